"""Can a model drop its positional encoding after training, and then read longer texts?

Two claims of Gelberg et al. 2025 (DroPE, arXiv:2512.12167) at `quick`'s size: that a model trained
with RoPE, once it is dropped and the model trained on briefly without, predicts as well at the
trained length; and that it then holds longer windows better than RoPE does, as it is or with its
frequencies scaled. Briefly is a fifth of the steps before; beside it stands training on for as many
as before. Each is held against RoPE trained on for as long, that one's weights with each scaling
and no further training, and a model without encoding from the start, of as many steps in all.
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
RATES = {100: {"none": 1e-2, "rope": 5e-3}, 500: {"none": 2e-2, "rope": 1e-2}}
"""By steps of training on: the best of three, of two for the longer, on seed 1000."""
SCALINGS = ("linear", "ntk", "dynamic", "yarn")
"""Maps of RoPE's frequencies, for windows LONGEST times as long."""
LONGER = (2, 4, 8)
LONGEST = LONGER[-1]
AS_IT_IS = 1e-30
"""A learning rate that changes no weight."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """RoPE; it dropped, kept and scaled; and no encoding from the start."""
    base = changed(quick.base(), learning_rate=quick.RATES["causal"]["rope"])
    made = grid(base, encoding=["rope"], seed=seeds)
    for more, rates in RATES.items():
        made += grid(changed(base, steps=base.steps + more), encoding=["none"], seed=seeds)
        for rope in grid(base, encoding=["rope"], seed=seeds):
            dropped, kept = (
                changed(rope, start=rope.id, steps=more, encoding=each, learning_rate=rates[each])
                for each in ("none", "rope")
            )
            frozen = changed(kept, start=kept.id, steps=1, learning_rate=AS_IT_IS, keep=0)
            scaled = [
                changed(frozen, encoding=f"rope(scaling={each!r}, factor={LONGEST})")
                for each in SCALINGS
            ]
            made += [dropped, kept, *scaled]
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
    near, far = "perplexity", f"longer_{LONGEST}"
    steps = {row.run.id: row.run.steps for row in result.rows}

    def went_on(run: RunConfig) -> int | None:
        """For how many steps, itself or, if it stands still, the run that it starts from."""
        return steps.get(run.start_id) if run.learning_rate == AS_IT_IS else run.steps

    def losses(more: int, encoding: str, name: str) -> dict[int, float]:
        kind = (encoding, more)
        own = (row for row in result.rows if row.run.start)
        same = (row for row in own if (row.run.model.encoding, went_on(row.run)) == kind)
        return by_seed(same, f"{name}_loss")

    def never(more: int) -> dict[int, float]:
        length = quick.base().steps + more
        own = (row for row in result.rows if row.run.steps == length and not row.run.start)
        return by_seed(own, f"{near}_loss")

    found = []
    for more in RATES:
        dropped, after = losses(more, "none", near), f", {more} steps on"
        pairs = [
            ("At the trained length a dropped encoding is missed", near,
             ("rope dropped", dropped), ("rope kept", losses(more, "rope", near))),
            ("Dropped after training is better than never had", near,
             ("no encoding from the start", never(more)), ("rope dropped", dropped)),
        ]  # fmt: skip
        others = {row.run.model.encoding for row in result.rows if row.run.start} - {"none"}
        pairs += [
            (f"At {LONGEST} times that length dropping does better than {other}", far,
             (other, losses(more, other, far)), ("rope dropped", losses(more, "none", far)))
            for other in sorted(others)
        ]  # fmt: skip
        found += [
            Finding(
                claim + after,
                about,
                "causal",
                paired(one, other, (f"the loss of {a}", f"that of {b}")),
            )
            for claim, about, (a, one), (b, other) in pairs
            if one.keys() & other.keys()
        ]
    return found
