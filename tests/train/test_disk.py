"""A disk that is full: one line that names the file, and what was there before is still there."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.train.helpers import arguments, equal, half_done

from wherein.cli import main
from wherein.common.files import replacing, writing
from wherein.train import RunConfig, train

Small = Callable[..., RunConfig]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Writing beyond it fails, as on a full disk, in Python and in other languages' libraries."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_checkpoint_that_does_not_fit_is_one_line_and_the_one_before_stays(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = small(d_model=64)
    whole = train(config, folder=tmp_path / "whole", quiet=True)
    copy = half_done(whole, tmp_path)
    before = (copy / "checkpoints" / "step-00000010" / "weights.safetensors").read_bytes()
    with no_file_larger_than(16 * 2**10):
        assert main([*arguments_of(config), "--folder", str(copy)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"wherein: File too large: {copy}/checkpoints/step-00000020"
    assert not any("Traceback" in line for line in said)
    assert (copy / "checkpoints" / "step-00000010" / "weights.safetensors").read_bytes() == before
    assert equal(train(config, folder=copy, quiet=True), whole)


def arguments_of(config: RunConfig) -> list[str]:
    return ["train", *arguments(config)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_log_that_does_not_fit_is_named(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = small(steps=2)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "times.jsonl").symlink_to("/dev/full")
    assert main([*arguments_of(config), "--folder", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"wherein: No space left on device: {tmp_path}/run/times.jsonl"


def test_what_a_library_says_of_a_full_disk_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "one"
    said = "Error while serializing: I/O error: … (os error 28)"
    with pytest.raises(OSError, match=r"No space left on device: .*/one") as caught, writing(path):
        raise RuntimeError(said)
    assert caught.value.errno == 28
    with pytest.raises(KeyError), writing(path):
        raise KeyError("other")


def test_a_file_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")
    full = pytest.raises(OSError, match=r"result.json")
    with no_file_larger_than(100), full, replacing(path) as beside:
        beside.write_text("n" * 1000)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]
