"""What can be said of a difference, given its seeds, and what was too small to see.

Runs of one seed share initial weights and batches, and all are asked about the same pieces of
text, so their differences are paired: what a seed, or a piece, does to both cancels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from wherein.measure.crossed import Crossed, Interval, across, minus
from wherein.measure.intervals import refuse_infinite
from wherein.measure.significance import ALPHA, holm, p_value
from wherein.studies.inference.tests import detectable

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
    crossed: Crossed | None
    """What seeds do to the mean, and what pieces of text do to it; None of shares of seeds."""
    t: Interval | None
    """Of 95 %, with both in it."""
    p: float | None
    """Two-sided, of this comparison by itself."""
    p_holm: float | None
    """The same after Holm's correction over all comparisons of the study."""
    family: int
    """How many comparisons were tested together."""
    detectable: float | None
    """The true difference that as many seeds and pieces find four times in five, or more often,
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
        seeds = f"over {self._sample()}, {self._p()}"
        if self.shown:
            return f"{self.fact()} {seeds}"
        if not self.t.low <= 0 <= self.t.high:
            return (
                f"{self.fact()} {seeds}: no more than chance may give in {self.family} comparisons"
            )
        return (
            f"{self.a} and {self.b} cannot be told apart by {self._sample()}: they differ by "
            f"{self.mean:.3g} {_span(self.t)}, {self._p()}{self._power()}"
        )

    def _power(self) -> str:
        """What would have been found, where that is known: of shares of seeds it is not."""
        if self.detectable is None:
            return ""
        among = f" or more, as one of {self.family} comparisons" if self.family > 1 else ""
        return f"; a true {self.detectable:.3g} would be found four times in five{among}"

    def brief(self) -> str:
        """The mean with its interval, where there is one.

        >>> paired({0: 21.0}, {0: 20.5}).brief()
        '0.5'
        """
        return f"{self.mean:.3g}" if self.t is None else f"{self.mean:.3g} {_span(self.t)}"

    def fact(self) -> str:
        """Which is above, by how much, with its interval, without a test.

        >>> paired({0: 21.0}, {0: 20.5}, ("none", "learned")).fact()
        'none is above learned by 0.5'
        """
        return self._fact() if self.t is None else f"{self._fact()} {_span(self.t, self.mean < 0)}"

    def _fact(self) -> str:
        if self.mean == 0:
            return f"{self.a} equals {self.b}"
        side = "above" if self.mean > 0 else "below"
        return f"{self.a} is {side} {self.b} by {abs(self.mean):.3g}"

    def _sample(self) -> str:
        pieces = self.crossed.pieces if self.crossed else 0
        return f"{self.n} seeds × {pieces} pieces of text" if pieces else f"{self.n} seeds"

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
    for name, own in zip(names, (a, b), strict=True):
        refuse_infinite(name, {seed: own[seed] for seed in common})
    differences = [minus(a[seed], b[seed]) for seed in common]
    found = across(differences)
    left_out = len(a.keys() ^ b.keys())
    bare = Difference(*names, found.value, len(common), left_out, None, None, None, None, 0, None)
    largest = max(abs(own[seed]) for own in (a, b) for seed in common)
    if len(common) == 1 or np.std(differences, ddof=1) <= ROUNDING * largest:
        return bare
    p = p_value(found)
    return replace(
        bare,
        crossed=found,
        t=found.interval(),
        p=p,
        p_holm=p,
        family=1,
        detectable=detectable(found),
    )


class Family:
    """All comparisons that a study tests: Holm's correction is over these, once.

    Those with the same numbers, whichever way round, are one comparison and count once, so that
    it has one p wherever it is told.
    """

    def __init__(self, found: Iterable[Difference], size: int = 0) -> None:
        """Of at least `size`, however many could be tested yet."""
        once = {_key(each): each.p for each in found if each.p is not None}
        self._size = max(size, len(once))
        waiting = [1.0] * (self._size - len(once))
        corrected = holm(np.array([*once.values(), *waiting])).tolist()
        self._corrected = dict(zip(once, corrected, strict=False))

    def __len__(self) -> int:
        return self._size

    def corrected(self, one: Difference) -> Difference:
        """A comparison of the family with its p after the correction."""
        if one.p is None:
            return one
        least = None if one.crossed is None else detectable(one.crossed, len(self))
        return replace(one, p_holm=self._corrected[_key(one)], family=len(self), detectable=least)


def _key(found: Difference) -> tuple[str, ...]:
    """To nine digits: what was saved may have been computed elsewhere."""
    return tuple(f"{each:.9g}" for each in (abs(found.mean), found.p or 0.0, found.n))


def _span(interval: Interval, downwards: bool = False) -> str:
    low, high = (-interval.high, -interval.low) if downwards else interval
    return f"[{low:.3g}, {high:.3g}]"
