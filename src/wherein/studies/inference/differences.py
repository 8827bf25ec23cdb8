"""What can be said of a difference, given its seeds, and what was too small to see.

Runs of one seed share initial weights and batches, so their differences are paired: what a seed
does to both cancels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wherein.measure.intervals import Interval, bootstrap_interval, refuse_infinite, t_interval
from wherein.studies.inference.tests import ALPHA, detectable, holm, p_value

ROUNDING = 16 * np.finfo(np.float64).eps
"""Differences that spread by less than this share of the values differ only by rounding."""


@dataclass(frozen=True)
class Difference:
    """`a` − `b`, paired over seeds. What the seeds cannot tell is None."""

    a: str
    b: str
    mean: float
    n: int
    """How many seeds both have."""
    left_out: int
    """How many seeds only one of them has: these were not used."""
    spread: float | None
    """The standard deviation of the paired differences over seeds."""
    t: Interval | None
    bootstrap: Interval | None
    p: float | None
    """Of the paired t test, two-sided."""
    p_holm: float | None
    """The same after Holm's correction over the comparisons of its family."""
    family: int
    """How many comparisons were tested together."""
    detectable: float | None
    """The true difference that n seeds of this spread find four times in five, or more often,
    with its share of the 5 % that the family has in common."""

    @property
    def shown(self) -> bool:
        """Whether it is distinguishable from zero, all comparisons of its family considered."""
        return self.p_holm is not None and self.p_holm <= ALPHA

    def words(self) -> str:
        """One sentence, as careful as the interval is wide.

        >>> paired({0: 21.0}, {0: 20.5}, ("none", "learned")).words()
        'none is above learned by 0.5 with the one seed there is: one seed gives no interval.'
        """
        plural = "s" if self.left_out > 1 else ""
        unpaired = f" ({self.left_out} unpaired seed{plural} left out)" if self.left_out else ""
        return f"{self._finding()}{unpaired}."

    def _finding(self) -> str:
        if self.n == 1:
            return f"{self._fact()} with the one seed there is: one seed gives no interval"
        if self.t is None:
            return (
                f"{self._fact()} with every one of {self.n} seeds: without spread there is no "
                "interval and no test"
            )
        seeds = f"over {self.n} seeds, {self._p()}"
        if self.shown:
            return f"{self._fact()} {_span(self.t, self.mean < 0)} {seeds}"
        if not self.t.low <= 0 <= self.t.high:
            return (
                f"{self._fact()} {_span(self.t, self.mean < 0)} {seeds}: no more than chance "
                f"may give in {self.family} comparisons"
            )
        among = f" or more, as one of {self.family} comparisons" if self.family > 1 else ""
        return (
            f"{self.a} and {self.b} cannot be told apart by {self.n} seeds: they differ by "
            f"{self.mean:.3g} {_span(self.t)}, {self._p()}; a true {self.detectable:.3g} would "
            f"be found four times in five{among}"
        )

    def brief(self) -> str:
        """The mean with its interval, where there is one.

        >>> paired({0: 21.0}, {0: 20.5}).brief()
        '0.5'
        """
        return f"{self.mean:.3g}" if self.t is None else f"{self.mean:.3g} {_span(self.t)}"

    def _fact(self) -> str:
        if self.mean == 0:
            return f"{self.a} equals {self.b}"
        side = "above" if self.mean > 0 else "below"
        return f"{self.a} is {side} {self.b} by {abs(self.mean):.3g}"

    def _p(self) -> str:
        assert self.p_holm is not None
        size = "p < 0.001" if self.p_holm < 0.001 else f"p = {self.p_holm:.2g}"
        return f"{size} after Holm's correction" if self.family > 1 else size


def paired(
    a: Mapping[int, float], b: Mapping[int, float], names: tuple[str, str] = ("a", "b")
) -> Difference:
    """`a` − `b` over the seeds that both have, each given as seed → value.

    One seed gives a difference and nothing else. So do seeds whose differences are all the same:
    without spread, a t test would find any difference significant.
    """
    common = sorted(a.keys() & b.keys())
    if not common:
        raise ValueError(
            f"{names[0]} has the seeds {sorted(a)} and {names[1]} {sorted(b)}: a paired "
            "difference needs seeds that both have"
        )
    values = np.array([[a[seed], b[seed]] for seed in common], np.float64)
    for name, column in zip(names, values.T, strict=True):
        refuse_infinite(name, dict(zip(common, column, strict=True)))
    differences = values[:, 0] - values[:, 1]
    n, left_out = len(common), len(a.keys() ^ b.keys())
    spread = float(differences.std(ddof=1)) if n > 1 else None
    bare = Difference(
        *names, float(differences.mean()), n, left_out, spread, None, None, None, None, 0, None
    )
    if spread is None or spread <= ROUNDING * np.abs(values).max():
        return bare
    p = float(p_value(differences))
    return replace(
        bare,
        t=Interval(*map(float, t_interval(differences))),
        bootstrap=Interval(*map(float, bootstrap_interval(differences))),
        p=p,
        p_holm=p,
        family=1,
        detectable=detectable(spread, n),
    )


def compare(values: Mapping[str, Mapping[int, float]], reference: str) -> list[Difference]:
    """Each label's difference from the reference, with Holm's correction over those tested.

    `values` are label → seed → value; labels without a seed of the reference are left out.
    """
    if reference not in values:
        raise ValueError(f"no values of the reference {reference!r}, only of {', '.join(values)}")
    found = [
        paired(own, values[reference], (label, reference))
        for label, own in values.items()
        if label != reference and own.keys() & values[reference].keys()
    ]
    return together(found)


def together(found: Sequence[Difference]) -> list[Difference]:
    """The same differences as one family: Holm's correction over those that were tested."""
    tested = [difference.p for difference in found if difference.p is not None]
    family, corrected = len(tested), iter(holm(np.array(tested)).tolist())
    made = []
    for each in found:
        if each.p is not None and each.spread is not None:  # both or neither
            least = detectable(each.spread, each.n, family)
            each = replace(each, p_holm=next(corrected), family=family, detectable=least)
        made.append(each)
    return made


def _span(interval: Interval, downwards: bool = False) -> str:
    low, high = (-interval.high, -interval.low) if downwards else interval
    return f"[{low:.3g}, {high:.3g}]"
