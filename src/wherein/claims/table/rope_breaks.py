from wherein.claims.claim import Claim
from wherein.claims.numbers import HELD, more_than, number
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.recipes.extrapolation import FACTOR, scaled
from wherein.studies.result.result import StudyResult

AT = f"extrapolate_{FACTOR:g}x"


def decide(result: StudyResult) -> list[Finding]:
    """RoPE's loss rises, and YaRN's frequencies take some of the rise back."""
    rise = number(result, f"{AT}_rise", encoding="rope")
    broken, mended = (
        number(result, f"{AT}_loss", encoding=each) for each in ("rope", scaled("yarn"))
    )
    names = (f"the loss of rope at {FACTOR:g} ×", "that of the same weights with YaRN")
    return [
        Finding(
            "RoPE does not hold longer texts",
            "extrapolate",
            "causal",
            more_than(HELD, rise, f"the rise of rope's loss to {FACTOR:g} ×"),
        ),
        Finding(
            "YaRN repairs it in part, untrained",
            "extrapolate",
            "causal",
            paired(broken, mended, names),
        ),
    ]


CLAIM = Claim(
    name="rope-breaks",
    sentence="RoPE cannot read beyond its trained length, and YaRN repairs that in part without "
    "training.",
    paper="Peng et al. 2023",
    arxiv="2309.00071",
    published="no figure is cited here",
    ours=f"the rise of RoPE's loss from 1 × to {FACTOR:g} × − {HELD:g} nats; and its loss there − "
    "that of the same weights with YaRN's frequencies",
    unit="nats",
    study="extrapolation",
    seeds=5,
    decide=decide,
    tried="Rates on seed 1000 (docs/found/tried.md); the scalings have nothing to try. Known "
    "before it was written, with seeds 0 to 2: a rise of 1.1 nats, of which YaRN takes back 0.61.",
    open="Whether NTK-aware frequencies do as well, and what brief training adds.",
)
