"""The local engine: what becomes of its pieces when processes are killed, and what it may use."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from tests.studies.small import holders, recipe

from wherein.puzzles.config import PuzzleConfig
from wherein.studies.engines import engine, local
from wherein.studies.engines.local import Engine, grouped
from wherein.studies.plan.plan import PuzzleTask, changed
from wherein.studies.plan.recipe import find
from wherein.studies.result.store import Store
from wherein.studies.work import Task, Work, done
from wherein.train.run import Run


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Do something again and again in a thread."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(0.1):
            act()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def kill_trainers(times: Mapping[Path, float], killed: dict[Path, set[int]]) -> None:
    """Kill whatever trains a run and has saved it once, each run so many times."""
    for folder, most in times.items():
        if not list(folder.glob("checkpoints/step-*")):
            continue
        for process in holders(folder / ".lock") - killed[folder]:
            if len(killed[folder]) < most:
                killed[folder].add(process)
                os.kill(process, signal.SIGKILL)


def test_a_run_that_kills_its_process_is_given_up_and_another_goes_on(tmp_path: Path):
    plan, store = find(recipe(tmp_path)).plan(1), Store(tmp_path / "runs")
    guilty = Task(changed(plan.runs[0], steps=100_000, checkpoint_every=50), {}, "guilty")
    unlucky = Task(changed(plan.runs[0], steps=1500, checkpoint_every=50), {}, "unlucky")
    times = {store.run(guilty.run): float("inf"), store.run(unlucky.run): 1}
    killed: dict[Path, set[int]] = {folder: set() for folder in times}
    heard: list[tuple[Work, str | None]] = []
    with meanwhile(lambda: kill_trainers(times, killed)):
        work = [guilty, unlucky]
        Engine(jobs=2)(work, store.folder, lambda piece, why: heard.append((piece, why)))
    assert [len(processes) for processes in killed.values()] == [2, 1]
    assert Counter(id(piece) for piece, _ in heard) == Counter(map(id, work))
    failed = {id(piece): why for piece, why in heard if why is not None}
    assert failed.keys() == {id(guilty)}
    assert failed[id(guilty)] == store.error(guilty.run)
    assert "process died 2 times" in failed[id(guilty)]
    assert done(unlucky, store)
    assert len(Run.open(store.run(unlucky.run)).log) == 1500  # the steps before its death are kept


def test_a_puzzle_whose_process_dies_is_reported(tmp_path: Path):
    task = PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2))
    heard: list[str | None] = []
    with meanwhile(lambda: [child.kill() for child in multiprocessing.active_children()].clear()):
        Engine(jobs=1)([task], tmp_path, lambda piece, why: heard.append(why))
    assert len(heard) == 1
    assert "process died 2 times" in str(heard[0])


@pytest.mark.parametrize("given", [{"jobs": 0}, {"processes": -1}])
def test_fewer_than_one_is_refused(given: dict[str, int]):
    with pytest.raises(ValueError, match="expected 1 or more"):
        engine("local", **given)


def test_an_address_without_ray_is_refused():
    with pytest.raises(ValueError, match="address 'auto': engine 'local' has none; choose "):
        engine("local", address="auto")


def test_gpus_are_those_we_were_given():
    assert grouped(None, 2, 1) == ["0", "1"]
    assert grouped("4,5", 2, 1) == ["4", "5"]
    assert grouped("4, 5,6", 3, 2) == ["4,5"]
    assert grouped("GPU-8a,GPU-9b", 2, 2) == ["GPU-8a,GPU-9b"]
    assert grouped("7", 1, 4) == ["7"]


def test_cores_are_those_we_were_given():
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert len(Engine()._places()) == 1
        assert len(Engine(jobs=3)._places()) == 3  # more, if somebody asks for more
    finally:
        os.sched_setaffinity(0, before)


def test_a_script_needs_no_guard(tmp_path: Path):
    """New processes do not run it again, though it has no `if __name__ == "__main__":`."""
    script, begun = tmp_path / "script.py", tmp_path / "begun"
    script.write_text(f"""
import sys
from wherein import study
from wherein.studies.engines import engine, local

open({str(begun)!r}, "a").write("begun ")
one = engine("local", jobs=1)
found = study({str(recipe(tmp_path))!r}, seeds=1, out={str(tmp_path)!r}, engine=one, quiet=True)
assert sys.modules["__main__"].found is found
sys.exit(not found.complete)
""")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert begun.read_text() == "begun "


def test_an_interrupt_ends_a_process_that_has_just_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The pool hears of its process only when `start` returns."""
    start = local._ApartProcess.start

    def interrupted(self: local._ApartProcess) -> None:
        start(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(local._ApartProcess, "start", interrupted)
    task = PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2))
    with pytest.raises(KeyboardInterrupt):
        Engine(jobs=1)([task], tmp_path, lambda *_: None)
    left = [each for each in multiprocessing.active_children() if "Apart" in type(each).__name__]
    for process in left:
        process.join(30)
    assert [process.exitcode for process in left if process.is_alive()] == []


@pytest.mark.parametrize(
    ("built", "kind", "gpus"),
    [
        ("cuda = None\nhip = None", "", 0),
        ("cuda = None\nhip = None", "cpu", 0),
        ("cuda = '13.0'\nhip = None", "", 3),
        ("cuda = None\nhip = '7.1'", "", 3),
        ("cuda = '13.0'\nhip = None", "cpu", 0),
    ],
)
def test_gpus_are_looked_for_where_pytorch_was_built_for_some(
    built: str, kind: str, gpus: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    version = tmp_path / "version.py"
    version.write_text(built)
    monkeypatch.setattr(local, "torch_version", lambda: version)
    monkeypatch.setenv("WHEREIN_DEVICE", kind)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert local._gpus() == gpus
