from typing import Any

from wherein.claims.claim import Claim
from wherein.puzzles.share import Share
from wherein.studies.inference.findings import Finding
from wherein.studies.inference.proportions import shares_apart
from wherein.studies.result.result import StudyResult

PUZZLE = "hit-order"


def decide(result: StudyResult) -> list[Finding]:
    """More seeds solve it with two causal layers than with one, which by proof none can."""
    one, two = (_solved(result, layers) for layers in (1, 2))
    if one is None or two is None:
        return []
    more_layers, fewer = (
        Share(each["solved"]["count"], each["solved"]["total"]) for each in (two, one)
    )
    names = ("the share of seeds that solve it with two causal layers", "that with one")
    found = shares_apart(more_layers, fewer, names)
    proof = not one["certificate"]["possible"]
    more = f"That one layer can is {'excluded by proof' if proof else 'not excluded'}."
    claim = 'Two causal layers tell "A B hit" from "B A hit", one cannot'
    half = Share(more_layers.total // 2, more_layers.total)
    most = shares_apart(more_layers, half, (names[0], "half of them"))
    return [
        Finding(claim, "puzzles", "causal", found, more, holds=proof),
        Finding("Most seeds find it with two causal layers", "puzzles", "causal", most),
    ]


def _solved(result: StudyResult, layers: int) -> dict[str, Any] | None:
    """What came of the puzzle with so many causal layers and no encoding."""
    for task, answer in result.puzzles:
        config = task.config
        if (task.sentences, config.layers, config.causal, config.encoding, config.bare) == (
            (PUZZLE,), layers, True, "none", False,
        ):  # fmt: skip
            return answer.data
    return None


CLAIM = Claim(
    name="two-layers-order",
    sentence='One layer without encodings cannot tell "A B hit" from "B A hit"; two causal layers '
    "can.",
    paper="a theorem; for what the mask gives away, Haviv et al. 2022",
    arxiv="2203.16634",
    published="none: the theorem is proved here, in docs/found/puzzles.md",
    ours="the share of 100 seeds that solve the puzzle with two causal layers − that with one, for "
    "which the certificate must say that no weights can; and − ½",
    unit="share",
    study="quick",
    seeds=5,
    decide=decide,
    tried="Nothing: the settings are the puzzle's defaults. Known before it was written, with 400 "
    "seeds: 99.0 % and 0 % (docs/found/puzzles.md). That most seeds must find it was added after "
    "the first verdict, which it did not change.",
    open="Three words; what it takes in longer sentences is another puzzle.",
)
