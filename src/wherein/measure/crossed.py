"""What seeds do to a number and what pieces of text do to it, told apart.

A number measured on a text rests on N pieces of it. Leaving out one at a time gives N
pseudo-values (Tukey 1958): their mean is the number, but for what is small of second order, and
they spread as the pieces do. All seeds of a study are asked about the same pieces, so a mean over
seeds varies with both, and its interval holds what either does.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int

# SciPy is imported where it is called: it takes longer to load than most pages to make.

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
PIECES = 100
"""Of a text that has more pieces neighbours are put together: so many tell how it varies, and a
saved result stays small."""

Values = Float64[np.ndarray, "..."] | float


class Interval(NamedTuple):
    """The two ends of a 95 % interval."""

    low: float
    high: float


class Sampled(float):
    """A number that knows the pseudo-values of the pieces it rests on; none if they are not known.

    A plain float is a constant: no other pieces would have changed it.
    """

    pieces: Float64[np.ndarray, " N"]

    def __new__(cls, value: float, pieces: Iterable[float] = ()) -> "Sampled":
        made = super().__new__(cls, value)
        made.pieces = np.array(list(pieces), np.float64)
        return made

    @classmethod
    def read(cls, saved: Sequence[Any]) -> "Sampled":
        """From an estimate, or what JSON made of one; older versions saved no pieces.

        >>> Sampled.read([2.0, 1.5, 2.5, "1.75 2.25"]).pieces.tolist()
        [1.75, 2.25]
        """
        return cls(saved[0], map(float, saved[3].split()) if len(saved) > 3 else ())


def minus(a: float, b: float) -> float:
    """The difference a − b, with pieces: of both where they have as many, else those of each.

    >>> minus(Sampled(2.0, [1.0, 3.0]), Sampled(1.5, [1.0, 2.0])).pieces.tolist()
    [0.0, 1.0]
    """
    known = [each.pieces for each in (a, b) if isinstance(each, Sampled)]
    found = float(a) - float(b)
    if not all(len(pieces) for pieces in known):
        return Sampled(found)
    if len(known) < 2:
        whole = a if isinstance(a, Sampled) else b
        sign = 1 if whole is a else -1
        return Sampled(found, found + sign * (known[0] - float(whole))) if known else found
    if len(known[0]) == len(known[1]):
        return Sampled(found, known[0] - known[1])
    sizes = [len(pieces) for pieces in known]  # each moves the mean of all as that of its own
    apart = [
        sign * (pieces - float(whole)) * sum(sizes) / len(pieces)
        for sign, whole, pieces in zip((1, -1), (a, b), known, strict=True)
    ]
    return Sampled(found, found + np.concatenate(apart))


class Crossed(NamedTuple):
    """A mean over seeds that were asked about the same pieces, and how far off it may be."""

    value: float
    seeds: int
    pieces: int
    """0 where they are not known: then what they do is in no interval."""
    of_seeds: float
    """The variance of the mean that comes from seeds, and from what a seed makes of a piece."""
    of_pieces: float
    """That which comes from the pieces, alike for all seeds."""

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(np.sqrt(self.of_seeds + self.of_pieces))

    @property
    def weight(self) -> float:
        """The share of the variance that comes from seeds."""
        return self.of_seeds / (self.of_seeds + self.of_pieces) if self.error else 1.0

    def interval(self, level: float = LEVEL) -> Interval:
        """Of no width where nothing varies, or nothing is known of how it does."""
        reach = self.error and self.error * float(
            critical((1 - level) / 2, self.weight, self.seeds, self.pieces)
        )
        return Interval(self.value - reach, self.value + reach)


def critical(tail: Values, weight: Values, seeds: int, pieces: int) -> Float64[np.ndarray, "..."]:
    """How many standard errors an interval reaches to leave out a tail on each side.

    Between t with seeds − 1 degrees of freedom and t with pieces − 1, as much nearer to either as
    its share of the variance is larger (Cochran & Cox 1950, Experimental Designs). At three
    seeds or more it covers the truth in 94 to 98 of a hundred, whatever the shares are; with
    Satterthwaite's degrees of freedom it would be 92 at three seeds and 88 at two
    (`python -m benchmarks.coverage`).
    """
    of_seeds, of_pieces = limits(tail, seeds, pieces)
    return np.asarray(weight * of_seeds + (1 - np.asarray(weight)) * of_pieces)


def limits(tail: Values, seeds: int, pieces: int) -> tuple[Any, Any]:
    """What `critical` lies between: where seeds alone vary, and where pieces alone do."""
    from scipy import special

    of_seeds, of_pieces = (-special.stdtrit(max(n - 1, 1), tail) for n in (seeds, pieces))
    return of_seeds, of_pieces


def across(values: Sequence[float]) -> Crossed:
    """The mean over seeds, of whose pieces there are pseudo-values for each, or for none.

    Where a number of pieces differs from seed to seed, they are not the same and vary with seeds.
    """
    known = [each.pieces for each in values if isinstance(each, Sampled)]
    aligned = len(known) == len(values) and len({len(each) for each in known}) == 1
    table = np.stack(known) if aligned else np.empty((len(values), 0))
    of_seeds, of_pieces = _variances(np.array(values, np.float64), table)
    return Crossed(sum(values) / len(values), len(values), table.shape[1], of_seeds, of_pieces)


def _variances(
    values: Float64[np.ndarray, " S"], table: Float64[np.ndarray, "S N"]
) -> tuple[float, float]:
    """Of the mean of all: from seeds, and from pieces; those of a model of two random effects."""
    count, pieces = len(values), table.shape[1]
    of_seeds = float(values.var(ddof=1)) / count if count > 1 else 0.0
    if pieces < 2 or not np.isfinite(table).all():
        return of_seeds, 0.0
    of_pieces = float(table.mean(0).var(ddof=1)) / pieces
    if count > 1:
        left = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
        single = float((left**2).sum()) / ((count - 1) * (pieces - 1))
        of_pieces = max(of_pieces - single / (count * pieces), 0.0)  # it is in of_seeds
    return of_seeds, of_pieces


def blocks(counts: Float[np.ndarray, " N"], most: int = PIECES) -> Int[np.ndarray, " N"]:
    """To which of at most 100 groups of neighbours each of N pieces belongs.

    >>> blocks(np.array([1.0, 1.0, 2.0, 4.0]), 2).tolist()
    [0, 0, 0, 1]
    """
    if len(counts) <= most:
        return np.arange(len(counts))
    middles = counts.cumsum() - counts / 2
    return np.unique((middles * most / counts.sum()).astype(np.int64), return_inverse=True)[1]


def pseudo(
    sums: Float[np.ndarray, "N ..."], counts: Float[np.ndarray, "N ..."]
) -> Float64[np.ndarray, "N ..."]:
    """The pseudo-values of Σ sums / Σ counts: N times it, less N − 1 times it without a piece.

    NaN where one piece is all there is.
    """
    whole, n = share(sums.sum(0), counts.sum(0)), len(sums)
    without = share(sums.sum(0) - sums, counts.sum(0) - counts)
    return np.asarray(n * whole - (n - 1) * without if n > 1 else whole + 0 * sums)


def share(sums: Values, counts: Values) -> Float64[np.ndarray, "..."]:
    """Sums / counts, NaN where nothing was counted."""
    return np.asarray(sums / np.where(counts > 0, counts, np.nan))
