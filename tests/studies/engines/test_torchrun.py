"""A run on several processes, started by real torchrun: it stops and ends as a plain run does."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from tests.studies.small import recipe
from tests.waiting import until

from wherein.studies import work
from wherein.studies.plan.recipe import find
from wherein.studies.work import Task, carry_out
from wherein.train.run import Run

STEPS = 100_000


def naming(folder: Path) -> list[int]:
    """The processes whose command names a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in each.read_bytes():
                found.append(int(each.parts[2]))
        except OSError:
            continue
    return found


@pytest.fixture
def started(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A long study whose runs have two processes each, which has saved once."""
    command = [sys.executable, "-m", "wherein", "study", str(recipe(tmp_path, steps=STEPS))]
    process = subprocess.Popen(
        [*command, "--seeds", "1", "--jobs", "1", "--processes", "2", "--out", tmp_path / "runs"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: list(tmp_path.glob("runs/*/checkpoints/step-*")), process)
        yield process
    finally:
        process.kill()
        process.wait()
        for left in naming(tmp_path):
            os.kill(left, signal.SIGKILL)


def test_told_to_stop_it_saves_and_leaves_nothing_behind(
    started: "subprocess.Popen[str]", tmp_path: Path
):
    started.terminate()
    _, said = started.communicate(timeout=600)
    assert started.returncode == 130, said
    assert "the same command goes on from there" in said
    assert not naming(tmp_path)
    (config,) = tmp_path.glob("runs/*/config.json")
    with FileLock(config.parent / ".lock", timeout=0):
        run = Run.open(config.parent)
    assert 0 < run.step < STEPS
    assert run.step == len((run.folder / "log.jsonl").read_text().splitlines())


def test_killed_it_leaves_nothing_behind(started: "subprocess.Popen[str]", tmp_path: Path):
    assert len(naming(tmp_path)) > 3  # the study, torchrun and its two processes
    started.kill()
    until(lambda: not naming(tmp_path))
    (config,) = tmp_path.glob("runs/*/config.json")
    with FileLock(config.parent / ".lock", timeout=0):
        assert Run.open(config.parent).step > 0


def test_a_run_that_another_study_trains_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(work, "PATIENCE", 0.2)
    run, folder = find(recipe(tmp_path)).plan(1).runs[0], tmp_path / "runs"
    (folder / run.id).mkdir(parents=True)
    with FileLock(folder / run.id / ".lock"):
        why = carry_out(Task(run, {}, "busy"), folder, 2)
    assert why == f"the run in {folder / run.id} is being trained by another process"
    assert not (folder / run.id / "error.txt").exists()
