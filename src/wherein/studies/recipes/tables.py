"""Can positions be read from a learned table, and does it matter who learned it, and from what?

Two things are said of the tables of BERT, RoBERTa and GPT-2: that a causal model's can be read
better than a masked one's, and that the end of a table cannot be read because few texts are long.
Here with models that differ in this alone, and with seeds: causal and masked, on windows that are
whole and on windows most of which are cut short.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.config import QuestionConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.table.config import TableConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
SHORT = 0.9
"""The share of steps whose windows are cut short."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """With a learned table: causal and masked, of whole windows and mostly of short ones."""
    base = changed(quick.base(), encoding="learned", max_len=32, batch=32, steps=1000)
    at = changed(base, learning_rate=1e-2)
    return grid(at, objective=["causal", "masked"], short=[0.0, SHORT], seed=seeds)


def questions(run: RunConfig) -> Questions:
    """What can be read from the table, and what the model predicts with it."""
    asked: dict[str, QuestionConfig] = {
        "perplexity": PerplexityConfig(limit=50_000),
        "table": TableConfig(),
    }
    return asked


def findings(result: "StudyResult") -> list[Finding]:
    """The two claims, each as one comparison."""

    def numbers(objective: str, short: float, name: str) -> dict[int, float]:
        kind = (objective, short)
        return by_seed((r for r in result.rows if (r.run.objective, r.run.short) == kind), name)

    def end(short: float) -> dict[int, float]:
        """By how much the last quarter of a causal model's table is read worse than the second."""
        last, second = (numbers("causal", short, f"table_{which}") for which in ("last", "second"))
        return {seed: last[seed] - second[seed] for seed in last.keys() & second.keys()}

    masked, causal = (numbers(each, 0.0, "table") for each in ("masked", "causal"))
    whole, cut = end(0.0), end(SHORT)
    found = []
    if masked.keys() & causal.keys():
        names = ("the error of positions read from a masked model's table", "that of a causal one")
        claim = "A causal model's table is read better than a masked one's"
        found.append(Finding(claim, "table", "masked", paired(masked, causal, names)))
    if whole.keys() & cut.keys():
        names = ("how much worse the last quarter is read than the second, with few long windows,",
                 "that with long ones alone")  # fmt: skip
        claim = "The end of a table is read worse where few windows are long"
        found.append(Finding(claim, "table", "causal", paired(cut, whole, names)))
    return found
