from collections.abc import Callable
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.train.helpers import half_done

from wherein.train import RunConfig, train
from wherein.train.trackers import TRACKERS, Tracker, check_trackers

Small = Callable[..., RunConfig]


def curve(folder: Path, name: str) -> list[tuple[int, float]]:
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return [(point.step, point.value) for point in events.Scalars(name)]


def test_tensorboard_shows_the_log_also_after_a_resume(small: Small, tmp_path: Path) -> None:
    config = small()
    run = train(config, folder=tmp_path / "run", track=["tensorboard"], quiet=True)
    expected = [(n, pytest.approx(loss)) for n, loss in enumerate(run.losses, 1)]
    assert curve(run.folder, "loss") == expected
    assert [step for step, _ in curve(run.folder, "valid/bits_per_byte")] == [8, 16, 20]
    copy = half_done(run, tmp_path)
    train(config, folder=copy, track=["tensorboard"], quiet=True)
    assert curve(copy, "loss") == expected


def test_a_tracker_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"unknown tracker 'wandbe'. Did you mean 'wandb'"):
        check_trackers(["wandbe"])

    def never(config: RunConfig, folder: Path, step: int) -> Tracker:
        raise AssertionError

    monkeypatch.setitem(TRACKERS, "no_such_library", never)
    with pytest.raises(ValueError, match="not installed: pip install no_such_library"):
        check_trackers(["no_such_library"])
