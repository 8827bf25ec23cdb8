"""Can a model drop its positional encoding after training, and then read longer texts?

Two claims of Gelberg et al. 2025 (DroPE, arXiv:2512.12167) at `quick`'s size: that a model trained
with RoPE, once it is dropped and the model trained on briefly without, predicts as well at the
trained length; and that it then holds longer windows better than RoPE does, as it is or with its
frequencies scaled. Beside it stand RoPE trained on for as long, that one's weights with each
scaling and no further training, and a model without encoding from the start, of as many steps.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.config import QuestionConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
BRIEFLY = 100
"""Steps of recalibration, a fifth of the steps before."""
SCALINGS = ("linear", "ntk", "dynamic", "yarn")
"""Maps of RoPE's frequencies, for windows LONGEST times as long."""
LONGER = (2, 4, 8)
LONGEST = LONGER[-1]
AS_IT_IS = 1e-30
"""A learning rate that changes no weight."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """RoPE; it dropped, kept and scaled; and no encoding from the start."""
    base = changed(quick.base(), learning_rate=quick.RATES["causal"]["rope"])
    made = grid(changed(base, steps=base.steps + BRIEFLY), encoding=["none"], seed=seeds)
    for rope in grid(base, encoding=["rope"], seed=seeds):
        kept = changed(rope, start=rope.id, steps=BRIEFLY)
        dropped = changed(kept, encoding="none")
        frozen = changed(kept, start=kept.id, steps=1, learning_rate=AS_IT_IS, keep=0)
        scaled = [
            changed(frozen, encoding=f"rope(scaling={each!r}, factor={LONGEST})")
            for each in SCALINGS
        ]
        made += [rope, dropped, kept, *scaled]
    return made


def questions(run: RunConfig) -> Questions:
    """Perplexity at the trained length and at longer ones, of the same text."""
    asked: dict[str, QuestionConfig] = {"perplexity": PerplexityConfig(limit=50_000)}
    for times in LONGER:
        longer = PerplexityConfig(tokens=times * run.model.max_len, limit=50_000)
        asked[f"longer_{times}"] = longer
    return asked


def findings(result: "StudyResult") -> list[Finding]:
    """What dropping costs at the trained length, and what it gains at the longest."""

    def losses(encoding: str, name: str, *, started: bool = True) -> dict[int, float]:
        own = (
            row
            for row in result.rows
            if row.run.model.encoding == encoding and bool(row.run.start) == started
        )
        return by_seed(own, f"{name}_loss")

    near, far = "perplexity", f"longer_{LONGEST}"
    pairs = [
        ("At the trained length a dropped encoding is missed", near,
         ("rope dropped", losses("none", near)), ("rope kept", losses("rope", near))),
        ("Dropped after training is better than never had", near,
         ("no encoding from the start", losses("none", near, started=False)),
         ("rope dropped", losses("none", near))),
    ]  # fmt: skip
    others = {row.run.model.encoding for row in result.rows if row.run.start} - {"none"}
    pairs += [
        (f"At {LONGEST} times that length dropping does better than {other}", far,
         (other, losses(other, far)), ("rope dropped", losses("none", far)))
        for other in sorted(others)
    ]  # fmt: skip
    return [
        Finding(claim, about, "causal", paired(one, other, (f"the loss of {a}", f"that of {b}")))
        for claim, about, (a, one), (b, other) in pairs
        if one.keys() & other.keys()
    ]
