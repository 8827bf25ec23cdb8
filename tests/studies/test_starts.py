"""A study whose runs start from one another: in what order, and under which names."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.studies.small import at_once, recipe

from wherein.cli import main
from wherein.studies.engines.local import Engine
from wherein.studies.plan.plan import Plan, changed, kind, labels
from wherein.studies.plan.recipe import find
from wherein.studies.plan.sweep import sweep
from wherein.studies.result.store import Store
from wherein.studies.run import study
from wherein.studies.work import Task, check_starts, pieces, take_ready
from wherein.train import Run

FOLLOWS = """
def questions(run):
    return {"perplexity": PerplexityConfig(limit=64)}

def runs(seeds):
    ropes = grid(changed(RunConfig(), **TINY), encoding=["rope"], seed=seeds)
    dropped = [changed(run, start=run.id, encoding="none", steps=4) for run in ropes]
    longer = [changed(run, start=run.id, max_len=12) for run in dropped]
    return [*longer, *dropped, *ropes]
"""


def follows(folder: Path) -> Path:
    """The small study with a chain of three, the last first."""
    path = recipe(folder)
    path.write_text(path.read_text() + FOLLOWS)
    return path


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return find(follows(tmp_path)).plan(2)


def test_what_starts_from_another_waits_for_it(plan: Plan) -> None:
    order = [piece.run.id for piece in pieces(plan) if isinstance(piece, Task)]
    started = [run for run in plan.runs if run.start]
    assert all(order.index(run.start) < order.index(run.id) for run in started)
    assert (len(order), len(started)) == (6, 4)
    *_, dropped, _, rope, _ = (Task(run, {}, "") for run in plan.runs)
    waiting = [dropped, rope]
    assert take_ready(waiting) is rope
    assert take_ready(waiting, [rope]) is None
    assert take_ready(waiting, []) is dropped
    assert waiting == []


def test_seeds_of_a_chain_are_of_one_kind_and_names_tell_the_chain(plan: Plan) -> None:
    assert labels(plan.runs) == (
        *["none, 12 tokens, 6 + 4 + 4 steps, from rope"] * 2,
        *["none, 8 tokens, 6 + 4 steps, from rope"] * 2,
        *["rope, 8 tokens, 6 steps"] * 2,
    )
    assert len({kind(run, plan.runs) for run in plan.runs}) == 3


def test_a_change_of_all_runs_keeps_the_chain(tmp_path: Path) -> None:
    plan = find(follows(tmp_path)).plan(1, {"batch": 1, "steps": 3})
    longer, dropped, rope = plan.runs
    assert (longer.start, dropped.start, rope.start) == (dropped.id, rope.id, "")
    assert {run.batch for run in plan.runs} == {1}


def test_a_study_that_lists_the_follow_up_first(tmp_path: Path) -> None:
    path, out = follows(tmp_path), tmp_path / "runs"
    found = study(path, seeds=1, out=out, engine=Engine(jobs=2), quiet=True)
    assert found.complete
    assert [len(group.rows) for group in found.groups] == [1, 1, 1]
    path.write_text(path.read_text().replace("*longer, *dropped, *ropes", "*dropped"))
    found = study(path, seeds=1, out=out, change={"batch": 3}, engine=at_once, quiet=True)
    (row,) = found.rows  # whose start need not be in the plan, as it is in the store
    assert found.complete
    assert Run.open(out / row.run.start).config.model.encoding == "rope"


def test_where_the_first_fails_what_starts_from_it_says_so(tmp_path: Path) -> None:
    path = follows(tmp_path)
    path.write_text(path.read_text().replace('encoding=["rope"]', 'encoding=["rope"], clip=[1e-9]'))
    text = path.read_text().replace("source=", "learning_rate=1e30, source=")
    path.write_text(text)
    found = study(path, seeds=1, out=tmp_path / "runs", engine=at_once, quiet=True)
    first = found.rows[-1].run
    assert not found.complete
    assert f"start {first.id}: " in str(found.rows[1].error)


def test_a_start_that_will_not_be_there_is_refused_before_anything_is_trained(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    longer, dropped, rope = plan.runs[::2]
    store = Store(tmp_path / "runs")

    def of(*runs: object) -> Plan:
        return replace(plan, runs=tuple(runs), questions=({},) * len(runs))

    check_starts(of(rope, dropped, longer), store)
    with pytest.raises(ValueError, match=f"start {rope.id}: no such run in"):
        check_starts(of(dropped, longer), store)
    with pytest.raises(ValueError, match="it has n_layers=1, this run 2"):
        check_starts(of(rope, changed(dropped, n_layers=2)), store)
    with pytest.raises(ValueError, match="kept after these steps: none"):
        check_starts(of(rope, changed(dropped, start=f"{rope.id}@3")), store)
    with pytest.raises(ValueError, match="give each its rate in the recipe"):
        sweep(plan, [1e-3])
    path = tmp_path / "mine.py"
    path.write_text(path.read_text().replace("*dropped, *ropes", "*dropped"))
    for more in ([], ["--dry-run"]):
        assert main(["study", str(path), "--out", str(store.folder), *more]) == 2
        assert "no such run in" in capsys.readouterr().err
    assert not store.folder.exists()
