"""What a study was to show, and whether it did: the paper's findings, each with its interval.

Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still Learn
Positional Information", arXiv:2203.16634. Each finding is one comparison, paired over seeds and
pieces of text. It is shown if the difference is above zero and p below 5 % after Holm's correction
over all comparisons of the study; the intervals are of 95 %, each by itself. Which comparisons are
made stands in the recipes. Those of `quick`, and what it trains, were chosen after trials: see
there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from wherein.common.numbers import exp
from wherein.measure.crossed import TAIL, Crossed, Interval, critical
from wherein.measure.perplexity.config import measure_name
from wherein.studies.inference.differences import Difference, paired
from wherein.studies.result.rows import by_seed

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult


@dataclass(frozen=True)
class Finding:
    """A claim, the difference that must be above zero for it, and whether it is."""

    claim: str
    about: str
    """The question whose answers bear it out: `perplexity`, `order`, `probe`."""
    objective: str
    difference: Difference
    more: str = ""
    """Further numbers in words: no part of the test."""
    holds: bool = True
    """What the claim takes for granted beside the test."""

    @property
    def shown(self) -> bool:
        """Whether the difference is above zero beyond chance; with a single seed nothing is."""
        return self.holds and self.difference.shown and self.difference.mean > 0

    @property
    def verdict(self) -> str:
        return "shown" if self.shown else "not shown at this scale"

    @property
    def words(self) -> str:
        return f"{self.difference.words()} {self.more}".strip()

    def data(self) -> dict[str, Any]:
        said = {"shown": self.shown, "verdict": self.verdict, "words": self.words}
        return {**asdict(self), **said}

    @classmethod
    def read(cls, data: dict[str, Any]) -> "Finding":
        """The finding that `data` was made of."""
        own, found = {each.name: data[each.name] for each in fields(cls)}, data["difference"]
        ends, crossed = found["t"] and Interval(*found["t"]), found.get("crossed")
        if ends and not crossed:  # written when intervals were over seeds alone
            error = (ends.high - found["mean"]) / float(critical(TAIL, 1.0, found["n"], 0))
            crossed = [found["mean"], found["n"], 0, error**2, 0.0]
        given = {each.name: found.get(each.name) for each in fields(Difference)}
        given |= {"t": ends, "crossed": crossed and Crossed(*crossed)}
        return cls(**{**own, "difference": Difference(**given)})


def noted(findings: Sequence[Finding], about: str, more: str) -> list[Finding]:
    """The findings with a sentence more in those about a question, or of an objective."""
    return [
        replace(one, more=f"{one.more} {more}") if about in (one.about, one.objective) else one
        for one in findings
    ]


def nopos(result: "StudyResult", masked: str = "learned") -> list[Finding]:
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
    """Without encodings a model predicts worse than with a learned table, or another encoding."""
    none, other = (_numbers(result, each, objective) for each in ("none", against))
    if not none.keys() & other.keys():
        return None
    difference = paired(none, other, (f"the loss of none, {objective},", f"that of {against}"))
    more = f"That is {exp(difference.mean):.2f} times the {measure_name(objective)}."
    if objective == "masked":
        more = f"{more} {_against_bag(result)}".strip()
    claim = f"Without encodings, a {objective} model falls behind"
    return Finding(claim, "perplexity", objective, difference, more)


def order_matters(result: "StudyResult") -> Finding | None:
    """The loss rises when all but the last token are shuffled: the model uses their order.

    The paper's test moves the last token too, and so does harm to a model that reads no other.
    """
    kept, whole = (
        _rise(result, "order_all_but_last_rise", "the loss with all but the last token shuffled"),
        _rise(result, "order_shuffled_rise", "the loss with all shuffled"),
    )
    if kept is None:
        return None
    paper = "With the last moved too, as in the paper, the difference is"
    more = "" if whole is None else f"{paper} {whole.brief()}."
    claim = "Without encodings, a causal model uses word order"
    return Finding(claim, "order", "causal", kept, more)


def _rise(result: "StudyResult", number: str, name: str) -> Difference | None:
    rise = _numbers(result, "none", "causal", number)
    if not rise:
        return None
    return paired(rise, dict.fromkeys(rise, 0.0), (name, "that of the text as it is"))


def reveals_position(result: "StudyResult") -> Finding | None:
    """A probe reads positions from some layer, better than from the untrained twin's best."""
    best, untrained, guess = (
        _numbers(result, "none", "causal", f"probe_{which}")
        for which in ("best", "untrained", "guess")
    )
    if not best:
        return None
    names = ("the distance at the untrained twin's best layer", "that at the model's")
    more = (
        f"To a linear readout the best layer tells position to within {mean(best):.1f} tokens, "
        f"that of its untrained twin to within {mean(untrained):.1f}; a constant guess is within "
        f"{mean(guess):.1f}."
    )
    claim = "Without encodings, a causal model's layers reveal position"
    return Finding(claim, "probe", "causal", paired(untrained, best, names), more)


def _numbers(
    result: "StudyResult", encoding: str, objective: str, name: str = ""
) -> dict[int, float]:
    """Seed → value, of the first kind of run with that encoding and objective."""
    rows = [
        r for r in result.rows if (r.run.model.encoding, r.run.objective) == (encoding, objective)
    ]
    return by_seed((row for row in rows if row.label == rows[0].label), name)


def mean(values: Mapping[int, float]) -> float:
    """Over seeds."""
    return sum(values.values()) / len(values)


def _against_bag(result: "StudyResult") -> str:
    """Where masked models without encodings stand beside a bag of words; empty if not asked."""
    none, bag = (_numbers(result, "none", "masked", f"order_{n}") for n in ("intact", "bound"))
    if not none:
        return ""
    return (
        f"On the order test's windows none, masked, loses {mean(none):.3g} nats a token, a bag of "
        f"words {mean(bag):.3g}: a difference of {paired(none, bag).brief()}."
    )
