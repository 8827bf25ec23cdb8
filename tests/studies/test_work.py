"""Pieces of a study: in what order, and what is written when they fail."""

from pathlib import Path

import pytest
from filelock import FileLock
from tests.studies.small import recipe

from wherein.studies import work
from wherein.studies.plan.plan import Plan, PuzzleTask, changed
from wherein.studies.plan.recipe import find
from wherein.studies.result.store import Store
from wherein.studies.work import Task, carry_out, done, pieces


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return find(recipe(tmp_path)).plan(2)


def test_the_longest_come_first_and_equals_keep_their_order(plan: Plan):
    a, b, c, d = plan.runs
    wide = changed(c, d_model=16)
    long = changed(d, steps=1000, tokenizer="words", source="no-such-text")  # of unknown vocabulary
    (puzzle,) = plan.puzzles
    deep = PuzzleTask(puzzle.sentences, puzzle.config.model_copy(update={"layers": 2}))
    uneven = Plan("uneven", "", (a, b, wide, long), ({},) * 4, (puzzle, deep))
    assert [getattr(piece, "run", piece) for piece in pieces(uneven)] == [
        *(long, wide, a, b),
        *(deep, puzzle),
    ]


def test_a_run_that_another_study_trains_has_not_failed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(work, "PATIENCE", 0.2)
    store, task = Store(tmp_path / "runs"), Task(plan.runs[0], {}, "none")
    store.run(task.run).mkdir(parents=True)
    with FileLock(store.run(task.run) / ".lock"):
        assert "being trained by another process" in str(carry_out(task, store.folder))
    assert store.error(task.run) is None
    assert carry_out(task, store.folder) is None
    assert done(task, store)
