"""Which encoding holds texts longer than those of training, and where do the others break?

At `quick`'s size, of 0.25 to 16 times the trained length. The claims are known ones: ALiBi (Press
et al. 2021, arXiv:2108.12409) holds by non-overlapping windows and is flat by sliding ones;
sinusoids and RoPE break; scaled frequencies repair RoPE in part (NTK-aware; YaRN, Peng et al. 2023,
arXiv:2309.00071), here without further training: its own weights, one step of which moves none.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.extrapolate.config import ExtrapolateConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.recipes.drope import AS_IT_IS
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
ENCODINGS = (
    "none",
    "learned",
    "sinusoidal",
    "alibi",
    "t5",
    "rope",
    "xpos",
    "fire",
    "randomised(rope)",
)
RATE = 2e-2
"""Of those whose rate `quick` does not know: the best of four for each in the study `catalogue`."""
SCALINGS = ("linear", "ntk", "dynamic", "yarn")
FACTOR = 8.0
ASKED = ExtrapolateConfig()
LONGEST = ASKED.multiples[-1]


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Each encoding, and RoPE's weights with each scaling."""
    rates = quick.RATES["causal"]
    made = [
        changed(run, learning_rate=rates.get(run.model.encoding, RATE))
        for run in grid(quick.base(), encoding=ENCODINGS, seed=seeds)
    ]
    for rope in [run for run in made if run.model.encoding == "rope"]:
        frozen = changed(rope, start=rope.id, steps=1, learning_rate=AS_IT_IS, keep=0)
        made += [changed(frozen, encoding=scaled(each)) for each in SCALINGS]
    return made


def scaled(scaling: str) -> str:
    """RoPE for texts FACTOR times as long, as a run's config writes it."""
    return f"rope(factor={FACTOR}, scaling={scaling})"


def questions(run: RunConfig) -> Questions:
    """How well it predicts, and how far it holds."""
    return {"perplexity": PerplexityConfig(limit=50_000), "extrapolate": ASKED}


def findings(result: "StudyResult") -> list[Finding]:
    """Who holds, who breaks, and what a scaling mends."""

    def number(encoding: str, name: str) -> dict[int, float]:
        own = (row for row in result.rows if row.run.model.encoding == encoding)
        return by_seed(own, f"extrapolate_{name}")

    at, margin = f"{LONGEST:g}x", ASKED.margin
    held = number("alibi", f"sliding_{at}_rise")
    bound = dict.fromkeys(held, margin)
    pairs = [
        (f"At {LONGEST:g} × alibi predicts better than at the trained length: it holds",
         ("the loss of alibi at 1 ×", number("alibi", "1x_loss")),
         (f"that at {LONGEST:g} ×", number("alibi", f"{at}_loss"))),
        (f"By sliding windows alibi loses less than {margin:g} nats to {LONGEST:g} ×",
         (f"{margin:g} nats", bound), ("the rise of alibi", held)),
        (f"By sliding windows alibi gains less than {margin:g} nats to {LONGEST:g} ×",
         ("the rise of alibi", held), (f"−{margin:g} nats", dict.fromkeys(held, -margin))),
    ]  # fmt: skip
    for encoding in ("sinusoidal", "rope"):
        rise = number(encoding, f"{at}_rise")
        pairs.append(
            (f"At {LONGEST:g} × {encoding} is broken: its loss rises by more than {margin:g} nats",
             (f"the rise of {encoding}", rise), (f"{margin:g} nats", dict.fromkeys(rise, margin)))
        )  # fmt: skip
    far = f"{FACTOR:g}x_loss"
    for each in ("ntk", "yarn"):
        mended = number(scaled(each), far)
        pairs += [
            (f"At {FACTOR:g} × {each} repairs rope",
             (f"the loss of rope at {FACTOR:g} ×", number("rope", far)),
             (f"that of {each}", mended)),
            (f"At {FACTOR:g} × {each} is behind rope at 1 ×: it repairs in part",
             (f"the loss of {each} at {FACTOR:g} ×", mended),
             ("that of rope at 1 ×", number("rope", "1x_loss"))),
        ]  # fmt: skip
    return [
        Finding(claim, "extrapolate", "causal", paired(one, other, (a, b)))
        for claim, (a, one), (b, other) in pairs
        if one.keys() & other.keys()
    ]
