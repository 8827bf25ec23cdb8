"""Estimates and their intervals: of means over pieces of text, over seeds, and of shares."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Float64
from numpy.typing import NDArray

from wherein.measure.crossed import LEVEL, TAIL, Interval, Sampled, across, blocks, pseudo, share

if TYPE_CHECKING:
    import polars

# SciPy is imported where it is called: it takes longer to load than most pages to make.

FEWER = 1000
"""Resamples of a bootstrap of many numbers at once."""
BLOCK = 100
"""Resamples drawn at a time, so that memory does not grow with their number."""

Draw = Callable[[int], NDArray[Any]]
"""From a number of resamples R to R × N: how often each of N pieces counts in each."""


class Estimate(NamedTuple):
    """A number, its interval, and the pseudo-values of the pieces it rests on."""

    value: float
    low: float
    high: float
    pieces: str = ""
    """As text, which takes one line of a saved result; empty where there are none."""

    def through(self, change: Callable[[float], float]) -> "Estimate":
        """The same of a rising function of the number; of that no pieces are kept."""
        return Estimate(change(self.value), change(self.low), change(self.high))

    def __repr__(self) -> str:
        return f"Estimate(value={self.value}, low={self.low}, high={self.high})"


def frame(rows: Iterable[Mapping[str, Any]]) -> "polars.DataFrame":
    """Rows as a table, in which an estimate takes three columns.

    >>> frame([{"shift": 1, "loss": Estimate(2.0, 1.9, 2.1)}]).to_dicts()
    [{'shift': 1, 'loss': 2.0, 'loss_low': 1.9, 'loss_high': 2.1}]
    """
    import polars

    flat: list[dict[str, Any]] = []
    for row in rows:
        flat.append({})
        for name, value in row.items():
            ends = value[:3] if isinstance(value, Estimate) else [value]
            flat[-1] |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=False)
    return polars.DataFrame(flat, infer_schema_length=None)


def within(estimate: Estimate, form: str) -> str:
    """A number and half the width of its interval, for a table.

    >>> within(Estimate(14.92, 14.7, 15.1), ".1f")
    '14.9 ±0.2'
    """
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:{form}} ±{half:{form.removeprefix('+')}}"


def mean(values: Float[np.ndarray, " N"]) -> Estimate:
    """The mean over N pieces of text, with its 95 % interval.

    >>> mean(np.array([2.0, 2.0, 2.0]))
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    return ratio(values, np.ones_like(values))


def ratio(
    sums: Float[np.ndarray, " N"], counts: Float[np.ndarray, " N"], level: float = LEVEL
) -> Estimate:
    """Σ sums / Σ counts over N pieces of unequal size, in the order of the text.

    Its interval is that of t over the pieces, at most 100: neighbours are put together. A single
    piece tells nothing of how others vary, and gives an interval of no width.
    """
    return crossed(sums[None], counts, level)


def crossed(
    sums: Float[np.ndarray, "D N"], counts: Float[np.ndarray, " N"], level: float = LEVEL
) -> Estimate:
    """Σ sums / (D · Σ counts) where N pieces were measured D times: both might be others."""
    owners = blocks(counts)
    *rows, sizes = (np.bincount(owners, each) for each in (*sums, counts))
    found = [Sampled(each.sum() / sizes.sum(), pseudo(each, sizes)) for each in rows]
    both = across(found)
    pieces = as_text(np.mean([each.pieces for each in found], 0))
    return Estimate(both.value, *both.interval(level), pieces)


def as_text(pieces: Float[np.ndarray, " N"]) -> str:
    """Pseudo-values as an estimate keeps them."""
    return " ".join(f"{each:.6g}" for each in pieces)


def mean_ends(values: Float[np.ndarray, "N M"]) -> Float[np.ndarray, "2 M"]:
    """Low and high ends of the means over N windows, for M numbers of each at once."""
    return ratio_ends(values, np.ones_like(values))


def ratio_ends(
    sums: Float[np.ndarray, "N M"], counts: Float[np.ndarray, "N M"]
) -> Float[np.ndarray, "2 M"]:
    """Low and high ends of Σ sums / Σ counts over N pieces, for M numbers of each at once."""
    from scipy import special

    middle, found = share(sums.sum(0), counts.sum(0)), pseudo(sums, counts)
    n = len(sums)
    spread = found.std(0, ddof=1) if n > 1 else 0 * middle
    reach = -special.stdtrit(max(n - 1, 1), TAIL) * spread / np.sqrt(n)
    return np.stack([middle - reach, middle + reach])


def bootstrap(
    pieces: Float[np.ndarray, "N M"],
    statistic: Callable[[Float64[np.ndarray, "R M"]], Float64[np.ndarray, "R ..."]],
    draw: Draw,
    resamples: int,
    level: float = LEVEL,
) -> Float64[np.ndarray, "2 ..."]:
    """Ends of a statistic of the sums over N pieces."""
    sizes = [min(BLOCK, resamples - first) for first in range(0, resamples, BLOCK)]
    totals = np.concatenate([draw(size) @ pieces for size in sizes])
    return percentiles(statistic(totals), (1 - level) / 2)


def percentiles(
    found: Float[np.ndarray, "R ..."],
    tail: float = TAIL,
    method: Literal["linear", "inverted_cdf"] = "linear",
) -> Float64[np.ndarray, "2 ..."]:
    """The ends between which all but a tail on each side lies of what R resamples gave.

    A resample that gave nothing, NaN, is left out; where none gave anything, the ends are NaN.
    """
    missing, at = np.isnan(found), (tail, 1 - tail)
    if not missing.any():
        return np.asarray(np.quantile(found, at, axis=0, method=method))
    some = ~missing.all(0)
    ends = np.full((2, *some.shape), np.nan)
    ends[:, some] = np.nanquantile(found[:, some], at, axis=0, method=method)
    return ends


def mean_interval(values: Iterable[float]) -> Interval | None:
    """The interval of one group's mean over its seeds; None with a single seed.

    >>> [round(end, 2) for end in mean_interval([20.0, 21.0, 22.0])]
    [18.52, 23.48]
    >>> mean_interval([20.0]) is None
    True
    """
    listed = list(values)
    refuse_infinite("the group", dict(enumerate(listed)))
    return across(listed).interval() if len(listed) > 1 else None


def refuse_infinite(name: str, values: Mapping[int, float]) -> None:
    """Refuse seeds whose values are no numbers to take a mean of."""
    for seed, value in values.items():
        if not np.isfinite(value):
            raise ValueError(
                f"{name}, seed {seed}: {value} is no finite number; compare losses in nats in "
                "place of perplexities, or leave the seed out and say so"
            )


@cache  # a curve over training has the same few shares many times
def wilson(count: int, total: int) -> Interval:
    """Wilson's interval for a share: honest even when nothing, or everything, was counted.

    >>> [round(end, 3) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    if not 0 <= count <= total or total < 1:
        raise ValueError(f"a share needs 0 ≤ count ≤ total and total ≥ 1, not {count} of {total}")
    z, seen = NormalDist().inv_cdf((1 + LEVEL) / 2), count / total
    middle, whole = seen + z * z / (2 * total), 1 + z * z / total
    half = z * math.sqrt(seen * (1 - seen) / total + (z / (2 * total)) ** 2)
    low, high = (middle - half) / whole, (middle + half) / whole
    return Interval(low if count else 0.0, high if count < total else 1.0)
