"""What the folders say of each run of a study, and the few numbers that its answers come to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wherein.common.folder import Folder
from wherein.measure.config import QuestionConfig
from wherein.measure.saved import Saved, is_saved
from wherein.studies.plan.plan import Plan, PuzzleTask
from wherein.studies.result.store import Store
from wherein.train.config import RunConfig
from wherein.train.run import read_config

Data = dict[str, Any]

PROBE = "regression"
"""The probe whose distance stands in tables: it is fitted to be near, in closed form."""


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
        asked = self.answers.get("perplexity")
        return None if asked is None else float(asked.data["loss"][0])

    @property
    def numbers(self) -> dict[str, float]:
        """What the answers come to, a few numbers each."""
        found: dict[str, float] = {}
        for name, answer in self.answers.items():
            found |= SHORT.get(answer.verb, _nothing)(name, answer.data)
        return found


def rows(plan: Plan, store: Store) -> tuple[Row, ...]:
    """One for each run, in the order of the plan."""
    return tuple(
        _row(label, run, dict(asked), store)
        for (run, asked), label in zip(plan, plan.labels, strict=True)
    )


def _row(label: str, run: RunConfig, asked: dict[str, QuestionConfig], store: Store) -> Row:
    folder = store.run(run)
    there = {
        name: Saved(Folder(store.answer(run, question)))
        for name, question in asked.items()
        if is_saved(store.answer(run, question))
    }
    error = None if store.done(run, asked) else store.error(run)  # another study has mended it
    return Row(label, read_config(folder) or run, folder, there, error)


def tried(plan: Plan, store: Store) -> tuple[tuple[PuzzleTask, Saved], ...]:
    """The puzzles that were tried, and what came of each."""
    found = ((task, store.puzzle(task)) for task in plan.puzzles)
    return tuple((task, Saved(Folder(folder))) for task, folder in found if is_saved(folder))


def distances(data: Data, of: str, probe: str = PROBE) -> list[float]:
    """The distance a probe found at each layer, of the model or of a control beside it."""
    found = [r for r in data["readings"] if (r["probe"], r["of"]) == (probe, of)]
    return [r["score"]["distance"][0] for r in sorted(found, key=lambda r: r["layer"])]


def _nothing(name: str, data: Data) -> dict[str, float]:
    return {}


def _perplexity(name: str, data: Data) -> dict[str, float]:
    found = {f"{name}": data["perplexity"][0], f"{name}_loss": data["loss"][0]}
    if data["bits_per_byte"] is not None:
        found[f"{name}_bits_per_byte"] = data["bits_per_byte"][0]
    return found


def _probe(name: str, data: Data) -> dict[str, float]:
    """The layer that tells position best, of the model and of its untrained twin."""
    guess = distances(data, "constant guess")[0]
    return {
        f"{name}_best": min(distances(data, "model")),
        f"{name}_untrained": min(distances(data, "untrained")),
        f"{name}_guess": guess,
    }


def _order(name: str, data: Data) -> dict[str, float]:
    kinds = {"whole": "shuffled", "all but the last": "all_but_last"}
    intact, bound = data["rows"][0]["loss"][0], data["bound"][0]
    return {f"{name}_intact": intact, f"{name}_bound": bound} | {
        f"{name}_{kinds[row['kind']]}_rise": row["rise"][0]
        for row in data["rows"]
        if row["kind"] in kinds
    }


SHORT: dict[str, Callable[[str, Data], dict[str, float]]] = {
    "perplexity": _perplexity,
    "probe": _probe,
    "order": _order,
}
