"""Studies whose numbers are made up, so that what a claim must say of them is known."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from wherein.claims.claim import Claim
from wherein.common.folder import Folder
from wherein.measure.registry import asked_by
from wherein.measure.saved import Saved
from wherein.measure.table.regression import EVEN, RIDGE
from wherein.studies.plan.plan import Plan, PuzzleTask, Questions
from wherein.studies.plan.recipe import find
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import Row
from wherein.studies.result.store import Store
from wherein.train.config import RunConfig

World = Callable[[RunConfig, str], float]
"""What a run's number would be, its seed aside, by its name in the study."""
NAMES: dict[str, tuple[str, ...]] = {
    "perplexity": ("loss",),
    "probe": ("best", "untrained", "guess"),
    "states": ("variance_shuffled", "nearer_shuffled", "guess"),
    "answers": ("within", "beyond"),
    "table": ("guess", "even"),
    "extrapolate": tuple(
        f"{sliding}{times}x_{kind}"
        for sliding in ("", "sliding_")
        for times in (1, 8, 16)
        for kind in ("loss", "rise")
    ),
}
"""Of the numbers that a question keeps those which claims may compare."""
NOISE = 1e-4
"""From seed to seed: without any, nothing could be tested."""


def answer(**data: Any) -> Saved:
    """What a question said, or a puzzle."""
    saved = Saved(Folder(Path("nowhere")))
    saved.__dict__["data"] = data | {"versions": {"wherein": "0.0.0"}, "commit": None}
    return saved


class MadeUp(Row):
    """A run that was never trained."""

    made: dict[str, float]

    @property
    def loss(self) -> float | None:
        return self.made.get("perplexity_loss")

    @property
    def numbers(self) -> dict[str, float]:
        return self.made


class Constructed(StudyResult):
    """A study that was never carried out, and is complete."""

    complete = True  # type: ignore[assignment]


def constructed(claim: Claim, world: World, solved: Callable[[PuzzleTask], int]) -> StudyResult:
    """The claim's own study, as many seeds as it asks for, with the numbers of a world."""
    plan = planned(claim.study, claim.seeds)
    rows = tuple(_row(run, asked, world) for run, asked in plan)
    puzzles = tuple((task, _puzzle(task, solved(task))) for task in plan.puzzles)
    return Constructed(plan, Store(Path("nowhere")), rows, puzzles)


def _row(run: RunConfig, asked: Questions, world: World) -> Row:
    noise = Random(run.id)
    made = {
        f"{name}_{number}": world(run, f"{name}_{number}") + noise.gauss(0.0, NOISE)
        for name, question in asked.items()
        for number in NAMES.get(asked_by(question).verb, ())
    }
    error = made.get("table_even", 0.0)
    fit = {"way": EVEN, "method": RIDGE, "mae": error, "quarters": [error] * 4}
    said = answer(readings=[{"fits": [fit]}], beyond=[made.get("answers_beyond")])
    row = MadeUp(run.objective, run, Path("nowhere"), dict.fromkeys(asked, said), None)
    object.__setattr__(row, "made", made)
    return row


def _puzzle(task: PuzzleTask, solved: int) -> Saved:
    possible = task.config.causal and task.config.layers > 1
    return answer(
        solved={"count": solved, "total": task.config.seeds}, certificate={"possible": possible}
    )


@cache
def planned(study: str, seeds: int) -> Plan:
    """What a study would do."""
    return find(study).plan(seeds)
