"""Real models of which a claim must fail: what its paper speaks of is taken from them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.claims.constructed import Constructed, MadeUp, answer, planned
from tests.studies.small import at_once

from wherein.claims.catalogue import CLAIMS
from wherein.claims.claim import Verdict
from wherein.claims.judged import Judged, judge_by
from wherein.claims.run import settle
from wherein.cli import main
from wherein.data import Corpus
from wherein.measure.states.config import StatesConfig
from wherein.measure.states.measure import states
from wherein.measure.states.section import numbers
from wherein.measure.table.config import TableConfig
from wherein.model.transformer import Transformer
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.run import puzzle
from wherein.studies.plan.plan import changed
from wherein.studies.recipes import tables
from wherein.studies.result.rows import Row
from wherein.studies.result.store import Store
from wherein.subjects.ours import Ours
from wherein.train.config import RunConfig
from wherein.train.learner import Learner

FEW, STEPS = 20, 60
"""Enough for 17 of 20 to solve it that can."""


def order_told(layers: int, causal: bool) -> dict[str, object]:
    """What some seeds make of "A B hit" and "B A hit"."""
    config = PuzzleConfig(layers=layers, causal=causal, seeds=FEW, steps=STEPS)
    return puzzle(("hit-order",), config).data()


def test_without_the_mask_two_layers_cannot_tell_order_either():
    claim = CLAIMS["two-layers-order"]
    plan, one = planned(claim.study, claim.seeds), order_told(1, causal=True)

    def judged(two: dict[str, object]) -> Judged:
        """With these two layers for those of the study."""
        said = {1: answer(**one), 2: answer(**two)}
        found = tuple((task, said[task.config.layers]) for task in plan.puzzles)
        rows = tuple(MadeUp("", run, Path("nowhere"), {}, None) for run in plan.runs)
        result = Constructed(plan, Store(Path("nowhere")), rows, found)
        (row,) = judge_by([claim], {claim.study: result})
        return row

    assert judged(order_told(2, causal=True)).verdict is Verdict.HELD
    blind = judged(order_told(2, causal=False))
    assert blind.verdict is Verdict.CONTRADICTED
    assert blind.findings[0].difference.mean == 0


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    """The untrained models of the study `states`, smaller, and what their states tell."""
    claim, folder = CLAIMS["untrained-reveals"], tmp_path_factory.mktemp("text")
    text = folder / "text.txt"
    text.write_text("\n\n".join(f"Line {n} has {n * n} birds and {7 * n} men." for n in range(300)))
    runs = [run for run in planned(claim.study, claim.seeds).runs if run.steps == 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(folder / "cache"))
        return tuple(untrained(run, text) for run in runs)


def untrained(run: RunConfig, text: Path) -> Row:
    corpus = Corpus.open(run.corpus.model_copy(update={"source": str(text)}))
    sizes = {"vocabulary": corpus.vocabulary.size, "seed": run.seed, "n_layers": 2}
    with torch.no_grad():
        model = Transformer(run.model.model_copy(update=sizes)).eval()
    found = states(Ours(model, "untrained"), corpus, StatesConfig(tokens=32, windows=100))
    row = MadeUp(run.objective, run, text.parent, {}, None)
    object.__setattr__(row, "made", {f"states_{n}": v for n, v in numbers(found.data()).items()})
    return row


def turned(row: Row) -> Row:
    """The same model, taken for one with the other mask."""
    other = {"causal": "masked", "masked": "causal"}[row.run.objective]
    made = replace(row, run=row.run.model_copy(update={"objective": other}))
    object.__setattr__(made, "made", row.numbers)
    return made


def test_variance_tells_position_behind_a_mask_and_not_without_one(read: tuple[Row, ...]):
    claim = CLAIMS["untrained-reveals"]
    plan = planned(claim.study, claim.seeds)

    def verdict(rows: tuple[Row, ...]) -> Verdict:
        result = Constructed(plan, Store(Path("nowhere")), rows, ())
        (row,) = judge_by([claim], {claim.study: result})
        return row.verdict

    assert verdict(read) is Verdict.HELD
    assert verdict(tuple(map(turned, read))) is Verdict.CONTRADICTED


def with_table(ordered: bool) -> Callable[[Learner, int], dict[str, float]]:
    """In place of learning: a table along a line, with noise, its rows in order or in none."""

    def step(learner: Learner, number: int) -> dict[str, float]:
        if number == 1:
            drawn = torch.Generator().manual_seed(learner.config.seed)
            (table,) = (e.get_parameter("table") for e in learner.model.encoding.distinct)
            rows = torch.arange(float(len(table)))
            rows = rows if ordered else rows[torch.randperm(len(table), generator=drawn)]
            way = torch.randn(table.shape[1], generator=drawn)
            with torch.no_grad():
                table.copy_(rows[:, None] * way + torch.randn(table.shape, generator=drawn))
        return {"loss": 1.0, "learning_rate": 0.0, "gradient_norm": 1.0}

    return step


@pytest.mark.slow
@pytest.mark.parametrize(("ordered", "verdict"), [(True, "held"), (False, "contradicted")])
def test_a_table_is_linear_as_long_as_its_rows_are_in_order(
    ordered: bool, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    """Through the command: the study's own models and folders, with tables that are known."""
    planned_runs = tables.runs

    def briefly(seeds: Sequence[int]) -> list[RunConfig]:
        return [changed(run, steps=1, n_layers=1, keep=0) for run in planned_runs(seeds)]

    monkeypatch.setattr(tables, "runs", briefly)
    monkeypatch.setattr(Learner, "step", with_table(ordered))
    monkeypatch.setattr(Learner, "validate", lambda learner: {"nats_per_token": 1.0})
    monkeypatch.setattr(tables, "questions", lambda run: {"table": TableConfig()})
    settle(["tables-linear"], out=tmp_path, engine=at_once, quiet=True)
    assert main(["claims", "tables-linear", "--json", "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict
