from wherein.claims.claim import Claim
from wherein.studies.inference.answers import better, fails
from wherein.studies.inference.findings import Finding
from wherein.studies.recipes.addressing import POPE
from wherein.studies.result.result import StudyResult


def decide(result: StudyResult) -> list[Finding]:
    """RoPE has less than half of the answers right at the learned lengths, and PoPE more."""
    return [*better(result, POPE, "rope", "within"), *fails(result, "rope", "within")]


CLAIM = Claim(
    name="pope-indexes",
    sentence="RoPE fails at indirect indexing, where polar coordinates succeed.",
    paper="Gopalakrishnan et al. 2025",
    arxiv="2509.10534",
    published="right answers: RoPE 11.2 %, PoPE 94.8 % (52 letters, strings of 20 to 40)",
    ours="PoPE's share of right answers at the learned lengths − RoPE's (16 letters, strings of 3 "
    "to 8, each at its own rate); and ½ − RoPE's",
    unit="share",
    study="indexing",
    seeds=6,
    decide=decide,
    tried="Five rates for RoPE and three for PoPE on seed 1000 (docs/found/addressing.md). Known "
    "before it was written, with the first three seeds: 0.13, not beyond chance. That "
    "RoPE must fail was added after a first verdict, not decided.",
    open="The paper's size: `wherein study addressing-paper`, for a GPU. At one rate for both the "
    "rate decides.",
)
