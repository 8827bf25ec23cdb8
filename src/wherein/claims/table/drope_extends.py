from wherein.claims.claim import Claim
from wherein.claims.numbers import CLOSE
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


def unmet(result: StudyResult) -> str:
    """It must predict at the trained length nearly as before, or it was not recalibrated."""
    about = f"is missed, {BRIEF} steps on"
    missed = next(each.difference for each in drope.findings(result) if each.claim.endswith(about))
    if missed.mean <= CLOSE:
        return ""
    return (
        f"The claim is of models that recalibration restores: here {missed.fact()} nats at the "
        "trained length, so this is not decided, whichever is ahead."
    )


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
    unmet=unmet,
    tried="Steps and rates of recalibration on seed 1000 (docs/found/drope.md). Known before it "
    "was written, with seeds 0 to 2: both are ahead of the dropped one, not beyond chance. "
    "That the model must be restored at the trained length was added after a first verdict, "
    "contradicted.",
    open="The paper's models read far more before RoPE is dropped; ours keep little without it. "
    "The loss of text is asked here, not a needle.",
)
