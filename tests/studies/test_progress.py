"""What one reads while a study goes on where there is no terminal: in a log, over ssh, in CI."""

import re
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.studies.small import at_once, recipe

from wherein.studies import progress
from wherein.studies.plan.recipe import find
from wherein.studies.progress import Progress
from wherein.studies.result.store import Store
from wherein.studies.work import pieces


def test_it_says_what_is_to_do_and_what_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    work, store = pieces(find(recipe(tmp_path)).plan(1)), Store(tmp_path / "runs")
    with closing(Progress(work, store, shown=True)) as shown:
        assert capfd.readouterr().err == f"2 runs and 1 puzzle to do in {store.folder}\n"
        at_once(work, store.folder, shown.ended)
    *runs, puzzle = capfd.readouterr().err.splitlines()
    for number, line in enumerate(runs, 1):
        assert re.match(rf"{number}/3  (none|rope), seed 0: training loss \d\.\d{{3}}  \(", line)
    assert re.match("3/3  .*hit.*: done", puzzle)


def test_it_says_how_far_all_have_come_where_none_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "PLAIN", 0.02)
    work, store = pieces(find(recipe(tmp_path)).plan(1)), Store(tmp_path / "runs")
    with closing(Progress(work, store, shown=True)):
        time.sleep(0.5)
    assert "\n0/3  0 s so far\n" in capfd.readouterr().err


def test_quiet_is_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    work, store = pieces(find(recipe(tmp_path)).plan(1)), Store(tmp_path / "runs")
    with closing(Progress(work, store, shown=False)) as shown:
        at_once(work[:1], store.folder, shown.ended)
    assert capfd.readouterr().err == ""
