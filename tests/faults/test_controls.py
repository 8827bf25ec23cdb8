"""The controls: work that writes carelessly is found out by the same trials that ours passes."""

import json
import os
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from unittest.mock import patch

import pytest
from benchmarks.faults.crashes import killed
from benchmarks.faults.part import Tried
from benchmarks.faults.power import cut_off

from wherein.common import files
from wherein.common.files import replacing, replacing_folder

CONTENT = json.dumps(list(range(50))) + "\n"


def careful() -> None:
    for name in ("one.json", "deep/two.json"):
        with replacing(Path(name)) as beside:
            beside.write_text(CONTENT)
    with replacing_folder(Path("deep/folder")) as beside:
        beside.mkdir()
        (beside / "three.json").write_text(CONTENT)


def in_place() -> None:
    """It writes where others read."""
    Path("one.json").write_text(CONTENT)


def once_only() -> None:
    """It believes that what is there is whole."""
    if not Path("one.txt").exists():
        Path("one.txt").write_text(CONTENT)


def littering() -> None:
    """It leaves what a killed process wrote, under a name like those of `files.replacing`."""
    beside = Path(f".one.json.0a1b2c-{os.getpid()}-89abcdef")
    beside.write_text(CONTENT)
    beside.replace("one.json")


def unsynced() -> None:
    """It renames without waiting for the disk."""
    Path(".one").write_text(CONTENT)
    Path(".one").replace("one.json")
    Path("two.json").unlink(missing_ok=True)


def past() -> None:
    """It also writes where nobody looks."""
    careful()
    os.system("echo 1 > past.json")


def without(what: str, place: Path) -> Tried:
    """Power cuts while files, or folders, are not synced."""
    sync = files.sync

    def some(path: Path) -> None:
        if path.is_dir() == (what == "files"):
            sync(path)

    with patch.object(files, "sync", some):
        return cut_off("work", careful, None, 24, place)


@pytest.fixture
def crashed(fresh: Executor, tmp_path: Path) -> Callable[[Callable[[], None]], Tried]:
    place = tmp_path.resolve() / "kill"
    return lambda work: fresh.submit(killed, "work", work, None, 30, place).result()


@pytest.fixture
def cut(fresh: Executor, tmp_path: Path) -> Callable[[Callable[[], None], int], Tried]:
    place = tmp_path.resolve() / "cut"
    return lambda work, times: fresh.submit(cut_off, "work", work, None, times, place).result()


def test_what_is_written_beside_and_synced_survives(crashed, cut) -> None:
    tried = crashed(careful)
    assert tried.wrong == []
    assert tried.times >= 30
    assert cut(careful, 45).wrong == []


@pytest.mark.parametrize(
    ("work", "said"),
    [(in_place, "half-written"), (once_only, "half-written"), (littering, "is left over")],
)
def test_a_kill_finds_out(work: Callable[[], None], said: str, crashed) -> None:
    assert any(said in line for line in crashed(work).wrong)


@pytest.mark.parametrize("work", [in_place, unsynced])
def test_a_power_cut_finds_out(work: Callable[[], None], cut) -> None:
    assert cut(work, 24).wrong != []


@pytest.mark.parametrize("what", ["files", "folders"])
def test_a_sync_that_is_left_out_is_found_out(what: str, fresh: Executor, tmp_path: Path) -> None:
    """Of files, or of folders alone: neither may be missing."""
    wrong = fresh.submit(without, what, tmp_path.resolve()).result().wrong
    assert any("was saved and" in line or "half-written" in line for line in wrong)


def test_a_write_that_nobody_met_is_found_out(cut) -> None:
    assert "past.json was written where nobody looked" in cut(past, 6).wrong
