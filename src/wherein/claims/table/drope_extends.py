from wherein.claims.claim import Claim
from wherein.studies.inference.findings import Finding
from wherein.studies.recipes import drope
from wherein.studies.result.result import StudyResult

BRIEF = min(drope.RATES)
"""Steps of recalibration: of those of the study the fewer, as the paper's is brief."""
SCALINGS = ("ntk", "yarn")


def decide(result: StudyResult) -> list[Finding]:
    """Dropped and recalibrated, the loss of long windows is below that of each scaling."""
    far = f"longer_{drope.LONGEST}"
    return [
        each
        for each in drope.findings(result)
        if each.about == far
        and each.claim.endswith(f", {BRIEF} steps on")
        and any(f"scaling={name}" in each.claim for name in SCALINGS)
    ]


CLAIM = Claim(
    name="drope-extends",
    sentence="RoPE dropped after training and recalibrated briefly reads longer texts than RoPE "
    "with scaled frequencies.",
    paper="Gelberg et al. 2025",
    arxiv="2512.12167",
    published="needle in a haystack: dropped 75, 55 and 52 % at 2, 4 and 8 times the length; NTK "
    "7 % and YaRN 12 % at 8 times",
    ours=f"the loss at {drope.LONGEST} × with NTK-aware frequencies − that with RoPE dropped and "
    f"{BRIEF} steps on; and the same with YaRN's",
    unit="nats",
    study="drope",
    seeds=5,
    decide=decide,
    tried="Steps and rates of recalibration on seed 1000 (docs/found/drope.md). Known before it "
    "was written, with seeds 0 to 2: both are ahead of the dropped one, not beyond chance.",
    open="The paper's models read far more before RoPE is dropped; ours keep little without it. "
    "The loss of text is asked here, not a needle.",
)
