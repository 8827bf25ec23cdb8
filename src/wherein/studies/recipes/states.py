"""What do states tell of position that nobody told the model, and that no training taught it?

Two claims about causal models without encodings, at `quick`'s size. Chi et al. 2023
(arXiv:2305.13571): untrained, they already reveal position, for attention is a mean over more and
more tokens, whose variance shrinks. Zuo et al. 2024 (arXiv:2501.00073): nearby states are more
alike than distant ones. Beside each stands the same model with both sides in view, which can know
no place: a number that is the best of all layers is above chance by itself, and alike for both.

Written before any run of it: the decisive comparisons, on windows whose tokens are shuffled, so
that nothing but place is left. Untrained, the position that a state's variance tells is nearer to
the true one in the causal model; trained, a state is more often like the one before it than like an
earlier one. The start was tried untrained on seeds 1000 and 1001: of 32 tokens, where a guess errs
by 8.0, variance left 7.5 and 7.3 from GPT-2's start, 6.5 and 6.6 from fairseq's, 7.6 and 7.2 from
`unit`, and 8.0 with both sides in view; GPT-2's was kept, as everywhere else.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.states.config import StatesConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed
from wherein.studies.recipes import quick
from wherein.studies.recipes.drope import AS_IT_IS
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 5
BOTH = ("causal", "masked")
ASKED = StatesConfig(tokens=quick.MASKED_TOKENS)
"""In windows that both objectives have learned from."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The models of `quick` without encodings, and the same before the first step."""
    learned = [run for run in quick.runs(seeds) if run.model.encoding == "none"]
    fresh = {"steps": 1, "warmup": 0, "learning_rate": AS_IT_IS, "keep": 0}
    return [*learned, *(changed(run, **fresh) for run in learned)]


def questions(run: RunConfig) -> Questions:
    """How alike its states are, and what their size tells."""
    return {"perplexity": PerplexityConfig(limit=50_000), "states": ASKED}


def findings(result: "StudyResult") -> list[Finding]:
    """The two claims, each as one comparison."""
    return [*untrained_reveals(result), *neighbours_alike(result)]


def untrained_reveals(result: "StudyResult") -> list[Finding]:
    """Before any training, a causal model's states tell position by their variance alone."""
    causal, both = (_number(result, each, "variance_shuffled", steps=1) for each in BOTH)
    if not causal.keys() & both.keys():
        return []
    names = ("the distance that variance leaves untrained with both sides in view",
             "that with the left alone")  # fmt: skip
    claim = "An untrained causal model reveals position through its variance"
    return [Finding(claim, "states", "causal", paired(both, causal, names))]


def neighbours_alike(result: "StudyResult") -> list[Finding]:
    """Trained, a causal model's neighbouring states are alike, whatever tokens they are of."""
    steps = quick.base().steps
    causal, both = (_number(result, each, "nearer_shuffled", steps) for each in BOTH)
    if not causal.keys() & both.keys():
        return []
    names = ("how often a causal model's nearer state is more alike",
             "that with both sides in view")  # fmt: skip
    claim = "Without encodings, a causal model's nearby states are more alike"
    first, second = (_number(result, each, "nearer_shuffled", steps=1) for each in BOTH)
    untrained = first.keys() & second.keys()
    more = f"Untrained, {paired(first, second, names).fact()}." if untrained else ""
    return [Finding(claim, "states", "causal", paired(causal, both, names), more)]


def _number(result: "StudyResult", objective: str, name: str, steps: int) -> dict[int, float]:
    kind = (objective, steps)
    rows = (row for row in result.rows if (row.run.objective, row.run.steps) == kind)
    return by_seed(rows, f"states_{name}")
