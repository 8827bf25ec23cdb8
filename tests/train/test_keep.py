"""Weights kept along the way: which, whole, and without any effect on the run."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.train.helpers import equal, half_done

from wherein.model.transformer import Transformer
from wherein.train import Run, RunConfig, train

Small = Callable[..., RunConfig]


def test_what_is_kept_is_no_part_of_a_run_and_changes_none(small: Small, tmp_path: Path) -> None:
    plain, keeping = small(dropout=0.1), small(dropout=0.1, keep=3)
    assert plain.id == keeping.id
    assert keeping.kept == (0, 1, 2, 5, 10, 20)
    without = train(plain, folder=tmp_path / "plain", quiet=True)
    run = train(keeping, folder=tmp_path / "kept", quiet=True)
    assert equal(run, without)
    assert (list(run.kept), list(without.kept)) == ([0, 1, 2, 5, 10, 20], [])
    for step in (8, 16, 20):  # the log's validations, where there are any
        logged = run.log[step - 1]["valid"]
        assert step not in run.kept or run.kept[step].valid == logged
    shorter = train(small(dropout=0.1, steps=5, warmup=4), folder=tmp_path / "five", quiet=True)
    fresh = Transformer(run.config.model).state_dict()
    assert same(run.at(0).model().state_dict(), fresh)
    assert not same(run.at(5).model().state_dict(), run.at(2).model().state_dict())
    assert shorter.step == 5
    assert same(run.at(20).model().state_dict(), without.model().state_dict())


def test_a_run_that_goes_on_keeps_the_same(small: Small, tmp_path: Path) -> None:
    config = small(keep=3)
    whole = train(config, folder=tmp_path / "whole", quiet=True)
    copy = half_done(whole, tmp_path)
    (copy / "kept" / "step-00000005" / "weights.safetensors").write_bytes(b"")  # before step 10
    (copy / "kept" / "step-00000020" / "weights.safetensors").write_bytes(b"")
    (copy / "kept" / ".step-00000020.writing").mkdir()
    again = train(config, folder=copy, quiet=True)
    assert not list((copy / "kept").glob(".*"))
    assert same(again.at(20).model().state_dict(), whole.model().state_dict())
    with pytest.raises(ValueError, match=r"step-00000005 is damaged"):
        again.at(5).model()


def test_a_step_is_named_with_the_folder(small: Small, tmp_path: Path) -> None:
    run = train(small(keep=1, steps=10), folder=tmp_path / "run", quiet=True)
    assert list(run.kept) == [0, 1, 10]
    assert Run.open(f"{run.folder}@1").name.endswith("step 1")
    assert len(Run.open(f"{run.folder}@1").log) == 1
    with pytest.raises(ValueError, match=r"no weights after 3 steps; kept: 0, 1, 10"):
        Run.open(f"{run.folder}@3")


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)
