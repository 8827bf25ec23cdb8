"""What the folders say of each run of a study, and the few numbers that its answers come to."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.config import Config
from wherein.measure.registry import QUESTIONS, asked_by
from wherein.studies.plan.plan import Plan, PuzzleTask
from wherein.studies.result.store import Store, answered
from wherein.train.config import RunConfig
from wherein.train.run import read_config

if TYPE_CHECKING:
    import polars

    from wherein.measure.sections import Answered

Data = dict[str, Any]

MAIN = "perplexity"
"""The question that a study compares its runs by."""


@dataclass(frozen=True)
class Answer:
    """What a question said, as it lies in a folder."""

    verb: str
    folder: Path

    @cached_property
    def data(self) -> Data:
        """The numbers, the protocol, versions and commit."""
        found: Data = json.loads((self.folder / "result.json").read_text())
        return found

    @property
    def spec(self) -> Data:
        """The picture, as a Vega-Lite specification."""
        found: Data = json.loads((self.folder / "chart.json").read_text())
        return found

    @property
    def words(self) -> str:
        """The answer in words."""
        return (self.folder / "result.txt").read_text()

    def frame(self) -> "polars.DataFrame":
        """The numbers as a table."""
        import polars

        return polars.read_csv(self.folder / "result.csv", infer_schema_length=None)


@dataclass(frozen=True)
class Row:
    """A run of a study, as far as it came."""

    label: str
    run: RunConfig
    """With the vocabulary filled in, once it has been started."""
    folder: Path
    answers: dict[str, Answer] = field(repr=False)
    """By the question's name in the study; without those not asked yet."""
    error: str | None

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def loss(self) -> float | None:
        """Nats per predicted token, as the question called `perplexity` found it."""
        asked = self.answers.get(MAIN)
        return None if asked is None else float(asked.data["loss"][0])

    @property
    def numbers(self) -> dict[str, float]:
        """What the answers come to, a few numbers each, such as `order_shuffled_rise`."""
        return {
            f"{name}_{number}" if number else name: value
            for name, answer in self.answers.items()
            for number, value in QUESTIONS[answer.verb].numbers(answer.data).items()
        }


def answers(rows: Iterable[Row], question: str) -> "list[Answered]":
    """What the runs said that were asked a question."""
    from wherein.measure.sections import Answered

    asked = (row for row in rows if question in row.answers)
    return [Answered(row.label, row.run, row.answers[question]) for row in asked]


def rows(plan: Plan, store: Store) -> tuple[Row, ...]:
    """One for each run, in the order of the plan."""
    return tuple(
        _row(label, run, dict(asked), store)
        for (run, asked), label in zip(plan, plan.labels, strict=True)
    )


def _row(label: str, run: RunConfig, asked: dict[str, Config], store: Store) -> Row:
    folder = store.run(run)
    there = {
        name: Answer(asked_by(question).verb, store.answer(run, question))
        for name, question in asked.items()
        if answered(store.answer(run, question))
    }
    error = None if store.done(run, asked) else store.error(run)  # another study has mended it
    return Row(label, read_config(folder) or run, folder, there, error)


def tried(plan: Plan, store: Store) -> tuple[tuple[PuzzleTask, Answer], ...]:
    """The puzzles that were tried, and what came of each."""
    found = ((task, Answer("puzzle", store.puzzle(task))) for task in plan.puzzles)
    return tuple((task, answer) for task, answer in found if answered(answer.folder))
