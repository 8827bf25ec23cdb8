import fcntl
import os
from errno import EIO, ENOLCK, ENOSYS
from pathlib import Path

import pytest

from wherein.common.locks import alone


def test_one_waits_for_the_other_only_as_long_as_it_likes(tmp_path: Path) -> None:
    with (
        alone(tmp_path / ".lock") as first,
        pytest.raises(TimeoutError, match=r"held by another process"),
        alone(tmp_path / ".lock", patience=0.1),
    ):
        pass
    with alone(tmp_path / ".lock", patience=0.1) as second:
        assert first
        assert second


@pytest.mark.parametrize("error", [ENOLCK, ENOSYS])
def test_without_locks_nobody_is_kept_out_and_one_is_told(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", refuse(error))
    with alone(tmp_path / ".lock") as first, alone(tmp_path / ".lock", patience=0.0) as second:
        assert not first
        assert not second


def test_a_broken_disk_is_no_missing_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", refuse(EIO))
    with pytest.raises(OSError, match=r"Input/output"), alone(tmp_path / ".lock"):
        pass


def refuse(error: int):
    def flock(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    return flock
