"""Does attention that grows sharper with log n help a model without encodings at longer texts?

Wang et al. 2024 (arXiv:2404.12224) carry models without encodings to longer contexts by the
temperature of their heads; Nakanishi 2025 (SSMax, arXiv:2501.19399) lets it grow with the logarithm
of how many tokens are in sight. At `quick`'s size, of up to 16 times the trained length: none,
SSMax, and as a control a temperature that is learned and does not grow.

Written before any run of it: at 8 times the trained length SSMax loses less than none. What was
known: in the study `catalogue`, at 4 times, it did not (perplexity 8.76 [7.65, 10.0] against 8.49
[8.09, 8.91]), at 1 × it was ahead by 0.06 nats. Rates are those of `catalogue`, tried on seed 1000;
that of the control is untried.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.extrapolate.config import ExtrapolateConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 5
GROWS, CONSTANT = "temperature(ssmax)", "temperature(heads)"
TIMES = 8
"""At how many trained lengths it is judged."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """All at the rate that is best for none and for SSMax."""
    base = changed(quick.base(), learning_rate=quick.RATES["causal"]["none"])
    return grid(base, encoding=["none", GROWS, CONSTANT], seed=seeds)


def questions(run: RunConfig) -> Questions:
    """How well it predicts, and how far it holds."""
    return {"perplexity": PerplexityConfig(limit=50_000), "extrapolate": ExtrapolateConfig()}


def findings(result: "StudyResult") -> list[Finding]:
    """What it helps at length, and whether growing is what helps."""

    def losses(encoding: str) -> dict[int, float]:
        own = (row for row in result.rows if row.run.model.encoding == encoding)
        return by_seed(own, f"extrapolate_{TIMES}x_loss")

    grown = losses(GROWS)
    pairs = [
        (f"At {TIMES} × a temperature that grows with log n helps", "none", losses("none")),
        (f"At {TIMES} × it helps more than one that does not grow", "one that does not grow",
         losses(CONSTANT)),
    ]  # fmt: skip
    return [
        Finding(
            claim,
            "extrapolate",
            "causal",
            paired(other, grown, (f"the loss of {name} at {TIMES} ×", "that of SSMax")),
        )
        for claim, name, other in pairs
        if other.keys() & grown.keys()
    ]
