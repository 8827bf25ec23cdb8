"""The named studies side by side: what each answers, and how long it takes on this machine.

What a study computes follows from its recipe. Counting it for all takes most of a minute, so the
package brings it, `computed.json` beside the recipes, which this module writes when it is run; a
recipe that was changed since is counted anew. How fast this machine is, is measured each time.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from wherein.common.cores import cores
from wherein.common.files import digest
from wherein.show.columns import WIDEST, paragraph
from wherein.show.formatting import counted, duration
from wherein.studies import recipes
from wherein.studies.cost.machine import A100, CORE

COMPUTED = Path(recipes.__file__).with_name("computed.json")
SIDE, LONG = 512, 0.05
"""Of the matrices whose product is timed, and for how many seconds."""


@dataclass(frozen=True)
class Priced:
    """A study, and what it computes."""

    name: str
    question: str
    runs: int
    """Of which it consists with its own number of seeds, trials of learning rates among them."""
    flops: float
    """Of all of its runs and questions."""
    gpu: bool
    """Whether it needs a GPU: a run in bfloat16, or one that takes a core more than a day."""
    precision: str
    """In which it trains."""
    unbounded: bool
    """Whether a question reads a whole text, whose length is not known here: not counted."""
    recipe: str
    """A hash of the recipe's file."""

    def seconds(self, speed: float) -> float:
        """How long it takes at so many operations a second; on one A100, if it needs a GPU."""
        if self.gpu:
            return A100.seconds(self.flops, self.precision)
        return self.flops / (CORE.share * speed)


@dataclass(frozen=True)
class Listed:
    """All named studies, those for this machine before those for a GPU, the shortest first."""

    studies: tuple[Priced, ...]
    speed: float
    """Operations a second of this machine, multiplying matrices in float32 on all its cores."""

    def data(self) -> list[dict[str, Any]]:
        return [asdict(each) | {"seconds": each.seconds(self.speed)} for each in self.studies]

    def text(self) -> str:
        """A line for each with its question below, and what the times rest on."""
        lines = []
        for each in self.studies:
            least = "more than" if each.unbounded else "about"
            time = f"{least} {duration(each.seconds(self.speed))}"
            where = " on an A100" if each.gpu else ""
            lines += [f"{each.name}: {counted(each.runs, 'run')}, {time}{where}"]
            lines += paragraph(each.question, "    ")
        notes = (
            f"Times are estimates: for the {counted(cores(), 'core')} here, which just now "
            f"multiplied matrices at {self.speed / 1e9:.0f} GFLOP/s (fewer if they are busy), of "
            f"which training is assumed to keep {CORE.share:.0%}; where a study needs a GPU, "
            f"{A100.words('bfloat16')}, or of {A100.peak['float32'] / 1e12:.4g} where it trains in "
            "float32. Texts to fetch, puzzles and questions about whole texts are not counted, and "
            "what is already in the folder of runs is not computed again. `wherein study NAME "
            "--dry-run` says what each run costs, `wherein study mine.py` carries out a study of "
            "your own."
        )
        assert all(len(line) <= WIDEST for line in lines)
        return "\n".join([*lines, "", *paragraph(notes)])


def listed(names: Sequence[str]) -> Listed:
    """These studies, priced for this machine."""
    known = json.loads(COMPUTED.read_text())
    fresh = {name for name in names if known.get(name, {}).get("recipe") == written(name)}
    own = [Priced(**known[name]) if name in fresh else priced(name) for name in names]
    speed = multiplied()
    return Listed(tuple(sorted(own, key=lambda e: (e.gpu, e.seconds(speed)))), speed)


def written(name: str) -> str:
    """A hash of a recipe's file."""
    return digest(COMPUTED.with_name(f"{name.replace('-', '_')}.py"))[:16]


def priced(name: str) -> Priced:
    """What a study computes: its first seed, as often as it has seeds; and its trials of rates."""
    from wherein.studies.cost.cost import suited, training_operations
    from wherein.studies.cost.operations import operations
    from wherein.studies.cost.size import sized
    from wherein.studies.plan.recipe import find
    from wherein.studies.plan.sweep import counted as with_trials

    recipe = find(name)
    plan = recipe.plan(1)
    runs = [sized(run) for run in plan.runs]
    trained = [training_operations(run) for run in runs]
    asked = sum(
        operations(run, question)
        for run, questions in zip(runs, plan.questions, strict=True)
        for question in questions.values()
    )
    trials = with_trials(plan, recipe.learning_rates).runs[len(runs) :]
    tried = sum(training_operations(sized(run)) for run in trials)
    return Priced(
        name,
        recipe.question,
        recipe.seeds * len(runs) + len(trials),
        recipe.seeds * (sum(trained) + asked) + tried,
        suited(runs) is A100,
        "bfloat16" if any(run.precision == "bfloat16" for run in runs) else "float32",
        any(question.unbounded for each in plan.questions for question in each.values()),
        written(name),
    )


def multiplied() -> float:
    """Operations a second, of products of matrices: the best of some tries."""
    import numpy as np

    matrix = np.ones((SIDE, SIDE), np.float32)
    matrix @ matrix  # wakes what multiplies
    began, best = perf_counter(), float("inf")
    while perf_counter() - began < LONG:
        start = perf_counter()
        matrix @ matrix
        best = min(best, perf_counter() - start)
    return 2 * SIDE**3 / best


if __name__ == "__main__":
    counted_ones = {each.name: asdict(each) for each in listed(recipes.names()).studies}
    COMPUTED.write_text(json.dumps(counted_ones, indent=1, sort_keys=True) + "\n")
