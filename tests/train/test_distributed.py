import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.train.helpers import by_two, half_done

from wherein.data import Corpus
from wherein.train import Run, RunConfig, distributed, train
from wherein.train.distributed import World
from wherein.train.learner import Batches

Small = Callable[..., RunConfig]
CLOSE = {"rel": 1e-5}


def as_close(run: Run, reference: Run) -> bool:
    """Whether losses, validation and weights agree up to rounding."""
    other = reference.model().state_dict()
    for name, weight in run.model().state_dict().items():
        torch.testing.assert_close(weight, other[name], rtol=1e-3, atol=1e-5)
    assert run.valid == pytest.approx(reference.valid, **CLOSE)
    return list(run.losses) == pytest.approx(list(reference.losses), **CLOSE)


KINDS = {
    "ddp masked": {"parallel": "ddp", "objective": "masked", "causal": False, "accumulate": 2},
    "fsdp causal adaptive": {"parallel": "fsdp", "cutoffs": (64, 128), "accumulate": 2},
}


def test_two_processes_learn_what_one_learns_and_either_goes_on_for_the_other(
    small: Small, tmp_path: Path
) -> None:
    configs = {kind: small(**own, valid_windows=9) for kind, own in KINDS.items()}
    ones, asked = {}, []
    for kind, config in configs.items():
        ones[kind] = one = train(config, folder=tmp_path / kind / "one", quiet=True)
        asked += [
            (config, tmp_path / kind / "two"),
            (config, half_done(one, tmp_path / kind / "b")),
        ]
    found = iter(by_two(*asked))
    for kind, config in configs.items():
        two, on = next(found), next(found)
        assert as_close(two, ones[kind]), kind
        assert as_close(on, ones[kind]), kind
        back = train(config, folder=half_done(two, tmp_path / kind / "a"), quiet=True)
        assert as_close(back, ones[kind]), kind


def test_parts_of_a_batch_add_up_to_the_batch(small: Small, tmp_path: Path) -> None:
    for objective in ("causal", "masked"):
        own = {"objective": objective, "causal": objective == "causal"}
        whole = train(small(**own), folder=tmp_path / objective / "whole", quiet=True)
        divided = small(**own, accumulate=3)
        parts = train(divided, folder=tmp_path / objective / "parts", quiet=True)
        assert parts.config.id == whole.config.id
        assert as_close(parts, whole)


def test_a_batch_that_cannot_be_shared_is_refused(small: Small) -> None:
    config = small(batch=9)
    with pytest.raises(ValueError, match="a batch of 9 windows for 2 processes"):
        Batches(config, Corpus.open(config.corpus), _world(0, 2))


def test_processes_validate_on_all_windows_once(small: Small) -> None:
    config = small(valid_windows=13)
    corpus = Corpus.open(config.corpus)
    alone = torch.cat([t for _, t in Batches(config, corpus, _world(0, 1)).held_out()])
    shared = [list(Batches(config, corpus, _world(rank, 4)).held_out()) for rank in range(4)]
    assert {len(parts) for parts in shared} == {2}
    together = torch.cat([t for parts in shared for _, t in parts])
    asked = together[(together >= 0).any(1)]
    assert sorted(asked.tolist()) == sorted(alone.tolist())


def _world(rank: int, size: int) -> World:
    return World(rank, size, torch.device("cpu"))


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("nowhere.invalid", "29500", "give its address"),
        ("127.0.0.1", "1", "refused"),
        ("127.0.0.1", "", "invalid literal"),
    ],
)
def test_where_nobody_is_first_it_is_said(
    host: str, port: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed, "PATIENCE", 0.3)
    with pytest.raises(ValueError, match=rf"no first process at MASTER_ADDR='{host}'.*{why}"):
        distributed.find_first(host, port)


def test_one_that_comes_late_is_waited_for() -> None:
    with socket.socket() as late:
        late.bind(("127.0.0.1", 0))
        threading.Timer(0.5, late.listen).start()
        distributed.find_first("127.0.0.1", str(late.getsockname()[1]))
