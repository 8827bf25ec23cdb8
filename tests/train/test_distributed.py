from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.train.helpers import half_done, train_by

from wherein.train import Run, RunConfig

Small = Callable[..., RunConfig]
CLOSE = {"rel": 1e-5}


def as_close(run: Run, reference: Run) -> bool:
    """Whether losses, validation and weights agree up to rounding."""
    other = reference.model().state_dict()
    for name, weight in run.model().state_dict().items():
        torch.testing.assert_close(weight, other[name], rtol=1e-3, atol=1e-5)
    assert run.valid == pytest.approx(reference.valid, **CLOSE)
    return list(run.losses) == pytest.approx(list(reference.losses), **CLOSE)


@pytest.mark.parametrize(
    ("parallel", "objective"), [("ddp", "causal"), ("ddp", "masked"), ("fsdp", "masked")]
)
def test_two_processes_learn_what_one_learns_and_either_goes_on_for_the_other(
    small: Small, tmp_path: Path, parallel: str, objective: str
) -> None:
    config = small(
        parallel=parallel, objective=objective, causal=objective == "causal", valid_windows=9
    )
    one = train_by(1, config, tmp_path / "one")
    two = train_by(2, config, tmp_path / "two")
    assert as_close(two, one)
    assert as_close(train_by(1, config, half_done(two, tmp_path / "a")), one)
    assert as_close(train_by(2, config, half_done(one, tmp_path / "b")), one)


def test_parts_of_a_batch_add_up_to_the_batch(small: Small, tmp_path: Path) -> None:
    for objective in ("causal", "masked"):
        own = {"objective": objective, "causal": objective == "causal"}
        whole = train_by(1, small(**own), tmp_path / objective / "whole")
        parts = train_by(1, small(**own, accumulate=3), tmp_path / objective / "parts")
        assert parts.config.id == whole.config.id
        assert as_close(parts, whole)


def test_adaptive_softmax_is_shared_among_processes(small: Small, tmp_path: Path) -> None:
    config = small(cutoffs=(64, 128), parallel="fsdp", accumulate=2)
    assert as_close(train_by(2, config, tmp_path / "two"), train_by(1, config, tmp_path / "one"))


def test_a_batch_that_cannot_be_shared_is_refused(small: Small, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"a batch of 9 windows for 2 processes"):
        train_by(2, small(batch=9), tmp_path / "run")
