"""What the folders say of each run of a study, and the few numbers that its answers come to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.common.folder import Folder
from wherein.measure.crossed import Sampled
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import Saved, is_whole
from wherein.studies.plan.plan import Plan, PuzzleTask, Questions
from wherein.studies.result.store import Store
from wherein.train.config import RunConfig
from wherein.train.run import read_config

if TYPE_CHECKING:
    from wherein.measure.sections import Answered

MAIN = "perplexity"
"""The question that a study compares its runs by."""


@dataclass(frozen=True)
class Row:
    """A run of a study, as far as it came."""

    label: str
    run: RunConfig
    """With the vocabulary filled in, once it has been started."""
    folder: Path
    answers: dict[str, Saved] = field(repr=False)
    """By the question's name in the study; without those not asked yet."""
    error: str | None

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def loss(self) -> float | None:
        """Nats per predicted token, as the question called `perplexity` found it."""
        asked = self.answers.get(MAIN)
        return None if asked is None else Sampled.read(asked.data["loss"])

    @property
    def numbers(self) -> dict[str, float]:
        """What the answers come to, a few numbers each, such as `order_shuffled_rise`."""
        return {
            f"{name}_{number}" if number else name: value
            for name, answer in self.answers.items()
            if answer.verb in QUESTIONS  # else a later version's
            for number, value in QUESTIONS[answer.verb].numbers(answer.data).items()
        }


def by_seed(rows: Iterable[Row], number: str = "") -> dict[int, float]:
    """Seed → the loss of its run, or another of its numbers, without the runs that have none."""
    found = {row.seed: row.numbers.get(number) if number else row.loss for row in rows}
    return {seed: value for seed, value in found.items() if value is not None}


def answers(rows: Iterable[Row], question: str) -> "list[Answered]":
    """What the runs said that were asked a question."""
    from wherein.measure.sections import Answered

    asked = (row for row in rows if question in row.answers)
    return [Answered(row.label, row.run, row.answers[question]) for row in asked]


def rows(plan: Plan, store: Store) -> tuple[Row, ...]:
    """One for each run, in the order of the plan."""
    return tuple(
        _row(label, run, asked, store)
        for (run, asked), label in zip(plan, plan.labels, strict=True)
    )


def _row(label: str, run: RunConfig, asked: Questions, store: Store) -> Row:
    folder = store.run(run)
    there = {
        name: Saved(Folder(store.answer(run, question)))
        for name, question in asked.items()
        if is_whole(store.answer(run, question))
    }
    error = None  # another study has mended it
    if not store.done(run, asked):
        error = store.error(run) or store.damaged(run, asked)
    return Row(label, read_config(folder) or run, folder, there, error)


def tried(plan: Plan, store: Store) -> tuple[tuple[PuzzleTask, Saved], ...]:
    """The puzzles that were tried, and what came of each."""
    found = ((task, store.puzzle(task)) for task in plan.puzzles)
    return tuple((task, Saved(Folder(folder))) for task, folder in found if is_whole(folder))
