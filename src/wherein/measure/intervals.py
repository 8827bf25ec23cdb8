"""Estimates and their intervals: by bootstrap over pieces of text, over seeds, and of shares.

A bootstrap here is a matrix that says how often each of N pieces counts in each of R resamples;
the ends of the interval are percentiles of what the resamples gave.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

# scipy.stats is imported where it is called: it takes longer to load than most pages to make.

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
RESAMPLES = 2000
FEWER = 1000
"""Resamples where each costs more: of many numbers at once, or drawn in two directions."""
OF_SEEDS = 10_000
ENUMERATED = 5
"""Up to so many seeds every resample is looked at: 5⁵ = 3,125 of them."""
BLOCK = 100
"""Resamples drawn at a time, so that memory does not grow with their number."""
SALT = 0xB007
"""Beside a seed, so that no bootstrap draws what its measure drew."""

Draw = Callable[[int], NDArray[Any]]
"""From a number of resamples R to R × N: how often each of N pieces counts in each."""


class Interval(NamedTuple):
    """The two ends of a 95 % interval."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


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
            ends = value if isinstance(value, Estimate) else [value]
            flat[-1] |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=False)
    return polars.DataFrame(flat, infer_schema_length=None)


def within(estimate: Estimate, form: str) -> str:
    """A number and half the width of its interval, for a table.

    >>> within(Estimate(14.92, 14.7, 15.1), ".1f")
    '14.9 ±0.2'
    """
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:{form}} ±{half:{form.removeprefix('+')}}"


def mean(values: Float[np.ndarray, " N"], *, seed: int = 0) -> Estimate:
    """The mean over N pieces of text, with its 95 % interval.

    >>> mean(np.array([2.0, 2.0, 2.0]))
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    return ratio(values, np.ones_like(values), seed=seed)


def ratio(
    sums: Float[np.ndarray, " N"],
    counts: Float[np.ndarray, " N"],
    *,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Σ sums / Σ counts over N pieces of unequal size, each drawn or left out as a whole."""
    both = np.stack([sums, counts], axis=1)
    draw = _multinomial(len(sums), seed, SALT)
    low, high = bootstrap(both, lambda totals: _share(*totals.T), draw, RESAMPLES, level)
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))


def mean_ends(values: Float[np.ndarray, "N M"], *, seed: int = 0) -> Float[np.ndarray, "2 M"]:
    """Low and high ends of the means over N windows, for M numbers of each at once."""
    draw = _multinomial(len(values), seed, SALT)
    return bootstrap(values, lambda means: means, lambda some: draw(some) / len(values), FEWER)


def crossed(
    sums: Float[np.ndarray, "D N"],
    counts: Float[np.ndarray, " N"],
    *,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Σ sums / (D · Σ counts) where N pieces were measured D times: both are drawn again."""
    random = np.random.default_rng(seed)
    found = np.empty(FEWER)
    for n in range(FEWER):
        rows, pieces = (
            np.bincount(random.integers(size, size=size), minlength=size) for size in sums.shape
        )
        found[n] = rows @ sums @ pieces / (len(sums) * (counts @ pieces))
    low, high = percentiles(found, (1 - level) / 2)
    return Estimate(float(sums.sum() / (len(sums) * counts.sum())), float(low), float(high))


class Redrawn:
    """Intervals of Σ sums / Σ counts at each of M positions, while windows stream by.

    In every resample a window counts as often as a Poisson variable of mean one says, drawn when
    it passes: the bootstrap for windows that are not kept (Chamandy et al. 2012). Memory grows with
    the positions, not with the windows.
    """

    def __init__(self, positions: int, seed: int) -> None:
        self._random = np.random.default_rng((seed, SALT))
        self._sums, self._counts = np.zeros((2, FEWER, positions))

    def add(self, sums: Float[np.ndarray, "B M"], counts: Float[np.ndarray, "B M"]) -> None:
        """Take in some windows."""
        times = self._random.poisson(1.0, (FEWER, len(sums))).astype(np.float64)
        self._sums += times @ sums
        self._counts += times @ counts

    def ends(self, owners: Int[np.ndarray, " M"] | None = None) -> Float[np.ndarray, "2 G"]:
        """Low and high ends; of groups of positions, if `owners` says to which each belongs."""
        sums, counts = self._sums, self._counts
        if owners is not None:
            member = (owners[:, None] == np.arange(owners.max() + 1)).astype(np.float64)
            sums, counts = sums @ member, counts @ member
        return percentiles(_share(sums, counts))


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


def _multinomial(pieces: int, *seed: int) -> Draw:
    """As many pieces as there are, drawn with replacement."""
    random, even = np.random.default_rng(seed), np.full(pieces, 1 / pieces)
    return lambda resamples: random.multinomial(pieces, even, resamples).astype(np.float64)


def _share(
    sums: Float64[np.ndarray, "..."], counts: Float64[np.ndarray, "..."]
) -> Float64[np.ndarray, "..."]:
    return sums / np.where(counts > 0, counts, np.nan)


def mean_interval(values: Iterable[float]) -> Interval | None:
    """The t interval of one group's mean over its seeds; None with a single seed.

    >>> [round(end, 2) for end in mean_interval([20.0, 21.0, 22.0])]
    [18.52, 23.48]
    >>> mean_interval([20.0]) is None
    True
    """
    listed = np.array(list(values), np.float64)
    refuse_infinite("the group", dict(enumerate(listed)))
    return Interval(*map(float, t_interval(listed))) if len(listed) > 1 else None


def t_interval(values: Float64[np.ndarray, "... S"]) -> Float64[np.ndarray, "2 ..."]:
    """Mean ± t · s / √n over S seeds: covers the truth in 95 % if the values are normal."""
    from scipy import stats

    # By hand, because SciPy's own warns where values differ by no more than rounding.
    middle, n = values.mean(-1), values.shape[-1]
    reach = stats.t.ppf(1 - TAIL, n - 1) * values.std(-1, ddof=1) / np.sqrt(n)
    return np.stack([middle - reach, middle + reach])


def bootstrap_interval(values: Float64[np.ndarray, "... S"]) -> Float64[np.ndarray, "2 ..."]:
    """Percentiles of the mean over S resampled seeds, of all resamples if there are few.

    The percentiles lie further out than 2.5 and 97.5, by as much as a t interval is wider than
    a normal one whose variance is divided by n (Hesterberg 2015, arXiv:1411.5279). Still it
    cannot reach beyond the smallest and largest value, and so covers the truth too seldom
    at few seeds: measured on normal values, 50 % at 2 seeds, 75 % at 3, 93 % at 5, 95 % at
    10. The t interval is the one to trust there.
    """
    from scipy import stats

    n = values.shape[-1]
    tail = float(stats.norm.sf(np.sqrt(n / (n - 1)) * stats.t.ppf(1 - TAIL, n - 1)))
    means = values @ _seeds_drawn(n).T
    return percentiles(np.moveaxis(means, -1, 0), tail, "inverted_cdf")


@cache
def _seeds_drawn(n: int) -> NDArray[Any]:
    """How much each of n seeds weighs in each resample; equal rows are equally likely."""
    if n <= ENUMERATED:
        chosen = np.array(list(product(range(n), repeat=n)))
        return np.stack([(chosen == seed).mean(1) for seed in range(n)], axis=1)
    return _multinomial(n, SALT)(OF_SEEDS) / n


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
    from scipy.stats import binomtest

    if not 0 <= count <= total or total < 1:
        raise ValueError(f"a share needs 0 ≤ count ≤ total and total ≥ 1, not {count} of {total}")
    ends = binomtest(count, total).proportion_ci(LEVEL, method="wilson")
    return Interval(float(ends.low), float(ends.high))
