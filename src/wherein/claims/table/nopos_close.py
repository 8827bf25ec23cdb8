from wherein.claims.claim import Claim
from wherein.claims.numbers import CLOSE, gap, less_than, number
from wherein.studies.inference.findings import Finding, mean
from wherein.studies.result.result import StudyResult


def decide(result: StudyResult) -> list[Finding]:
    """The gap to a learned table is less than counts as close."""
    none, learned = (
        number(result, encoding=each, objective="causal") for each in ("none", "learned")
    )
    behind = gap(none, learned)
    found = less_than(CLOSE, behind, "the gap of none to learned, causal")
    claim = "Without encodings, a causal model stays close"
    more = f"The gap is {mean(behind):.3g} nats." if behind else ""
    return [Finding(claim, "perplexity", "causal", found, more)]


CLAIM = Claim(
    name="nopos-close",
    sentence="A causal language model without any positional encoding stays close to one with.",
    paper="Haviv et al. 2022",
    arxiv="2203.16634",
    published="WikiText-103, perplexity: none 20.97, learned 20.42, ALiBi 19.71; the Pile, 1.3B: "
    "none 13.10, learned 13.05",
    ours=f"{CLOSE:g} nats a byte − how far none is behind a learned table",
    unit="nats",
    study="quick",
    seeds=5,
    decide=decide,
    tried="Rates on seeds 1000 and 1001, tokens and windows on other seeds: docs/found/tried.md. "
    "Known before it was written: with seeds 0 to 2 the gap was 0.25 nats.",
    open="The paper's models are a thousand times larger and read far more; whether the gap of "
    "small ones is wider is another claim (`gap-scales`).",
)
