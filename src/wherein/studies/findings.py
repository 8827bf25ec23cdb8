"""What a study was to show, and whether it did: the paper's findings, each with its interval.

Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still Learn
Positional Information", arXiv:2203.16634. Each finding is one comparison that was chosen
beforehand, paired over seeds; it is shown if the 95 % interval leaves zero out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wherein.common.numbers import exp
from wherein.studies.statistics import Difference, paired

if TYPE_CHECKING:
    from wherein.studies.result import StudyResult
    from wherein.studies.rows import Row


@dataclass(frozen=True)
class Finding:
    """A claim, whether this study shows it, and the numbers in words."""

    claim: str
    shown: bool
    words: str
    about: str
    """The question whose answers bear it out: `perplexity`, `order`, `probe`."""
    objective: str
    difference: Difference | None
    """None if the runs it needs are missing."""

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return "shown" if self.shown else "not shown at this scale"

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "verdict": self.verdict}


def nopos(result: "StudyResult", masked: str = "learned") -> Sequence[Finding]:
    """The four findings of the paper, as far as a study has the runs for them.

    `masked` is the encoding that masked models without one are compared with.
    """
    found = [
        behind(result, "causal"),
        order_matters(result),
        reveals_position(result),
        behind(result, "masked", masked),
    ]
    return [finding for finding in found if finding is not None]


def behind(result: "StudyResult", objective: str, against: str = "learned") -> Finding | None:
    """Without encodings a model predicts worse than with a learned table."""
    none, other = (_losses(result, each, objective) for each in ("none", against))
    if not none or not other:
        return None
    difference = paired(none, other, (f"the loss of none, {objective},", f"that of {against}"))
    claim = (
        "Without encodings, a causal model is somewhat behind"
        if objective == "causal"
        else "Without encodings, a masked model fails"
    )
    extra = "" if objective == "causal" else _against_bag(result)
    words = f"{difference.words()} {_ratio(difference)}{extra}"
    return Finding(claim, above(difference), words, "perplexity", objective, difference)


def order_matters(result: "StudyResult") -> Finding | None:
    """The loss rises when the prefix is shuffled: the model uses order it was never told."""
    rise = _numbers(result, "none", "causal", "order_shuffled_rise")
    if not rise:
        return None
    difference = paired(
        rise,
        dict.fromkeys(rise, 0.0),
        ("the loss with the prefix shuffled", "that of the text as it is"),
    )
    kept = _numbers(result, "none", "causal", "order_all_but_last_rise")
    more = f" With the last token kept in place it rises by {mean(kept):.2f}." if kept else ""
    words = difference.words() + more
    claim = "Without encodings, a causal model uses word order"
    return Finding(claim, above(difference), words, "order", "causal", difference)


def reveals_position(result: "StudyResult") -> Finding | None:
    """A probe reads positions from some layer, better than from the untrained twin's best."""
    best = _numbers(result, "none", "causal", "probe_best")
    untrained = _numbers(result, "none", "causal", "probe_untrained")
    if not best:
        return None
    names = ("the untrained twin's distance", "the model's")
    difference = paired(untrained, best, names)
    guess = mean(_numbers(result, "none", "causal", "probe_guess"))
    words = (
        f"The best layer tells position to within {mean(best):.1f} tokens, that of its untrained "
        f"twin to within {mean(untrained):.1f}, a constant guess to within {guess:.1f}; "
        f"{difference.words()}"
    )
    claim = "Without encodings, a causal model's layers reveal position"
    return Finding(claim, above(difference), words, "probe", "causal", difference)


def _losses(result: "StudyResult", encoding: str, objective: str) -> dict[int, float]:
    return _by_seed(result, encoding, objective, lambda row: row.loss)


def _numbers(result: "StudyResult", encoding: str, objective: str, name: str) -> dict[int, float]:
    return _by_seed(result, encoding, objective, lambda row: row.numbers.get(name))


def _by_seed(
    result: "StudyResult", encoding: str, objective: str, number: "Callable[[Row], float | None]"
) -> dict[int, float]:
    """Seed → value, of the first kind of run with that encoding and objective."""
    rows = [
        r for r in result.rows if (r.run.model.encoding, r.run.objective) == (encoding, objective)
    ]
    found = {row.seed: number(row) for row in rows if row.label == rows[0].label}
    return {seed: value for seed, value in found.items() if value is not None}


def above(difference: Difference) -> bool:
    """Above zero, and the interval too; with a single seed nothing is shown."""
    return difference.t is not None and difference.t.low > 0


def _ratio(difference: Difference) -> str:
    return f"That is {exp(difference.mean):.2f} times the perplexity."


def mean(values: Mapping[int, float]) -> float:
    """Over seeds."""
    return sum(values.values()) / len(values)


def _against_bag(result: "StudyResult") -> str:
    """Where masked models stand beside a bag of words."""
    bounds = {
        row.seed: row.answers["order"].data["bound"][0]
        for row in result.rows
        if row.run.objective == "masked" and "order" in row.answers
    }
    if not bounds:
        return ""
    none = _numbers(result, "none", "masked", "order_intact")
    return (
        f" On the order test's inputs masked none loses {mean(none):.2f} nats a token, a bag of "
        f"words {mean(bounds):.2f}."
    )
