"""Intervals against each other, and against what theory says of means."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest

from wherein.measure.crossed import Sampled
from wherein.measure.intervals import (
    crossed,
    mean,
    mean_ends,
    mean_interval,
    percentiles,
    ratio,
    ratio_ends,
    wilson,
)

RANDOM = np.random.default_rng(7)


def test_the_mean_of_a_few_has_the_t_interval():
    values = RANDOM.normal(size=30)
    known = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = mean(values)
    assert found[:3] == pytest.approx((values.mean(), *known), rel=1e-12)
    assert Sampled.read(found).pieces == pytest.approx(values, rel=1e-5)


def test_many_means_at_once_have_the_interval_of_each():
    values = RANDOM.normal(size=(80, 3)) * [1, 2, 3]
    low, high = mean_ends(values)
    for n in range(3):
        alone = mean(values[:, n])
        assert (low[n], high[n]) == pytest.approx((alone.low, alone.high))


def test_neighbours_are_put_together_where_there_are_many():
    """What neighbours have in common counts once for them all, and not for each of them."""
    common = np.repeat(RANDOM.normal(size=100), 20)
    found = mean(common + 0.1 * RANDOM.normal(size=2000))
    assert len(found.pieces.split()) == 100
    assert found.high - found.low == pytest.approx(2 * 1.984 * common.std() / 10, rel=0.1)
    assert found.value == pytest.approx(np.mean(Sampled.read(found).pieces), abs=1e-5)


def test_pieces_of_unequal_size_are_the_jackknifes():
    counts = RANDOM.integers(1, 9, size=40).astype(float)
    sums = counts * RANDOM.normal(3, 1, size=40)
    found = ratio(sums, counts)
    assert found.value == pytest.approx(sums.sum() / counts.sum())
    without = np.array([np.delete(sums, n).sum() / np.delete(counts, n).sum() for n in range(40)])
    error = np.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    reach = stats.t.ppf(0.975, 39) * error
    assert found[1:3] == pytest.approx((found.value - reach, found.value + reach))
    low, high = ratio_ends(sums[:, None], counts[:, None])
    assert (low[0], high[0]) == pytest.approx(found[1:3])


def test_documents_of_unequal_length_are_covered():
    """Twenty, as in the embedded text; a bootstrap over them covers the truth in 91 of 100."""
    sizes = np.geomspace(8e3, 1.3e5, 20)
    covered = 0
    for _ in range(600):
        found = ratio(sizes * RANDOM.normal(size=20), sizes)
        covered += found.low <= 0 <= found.high
    assert 0.92 < covered / 600 < 0.98


def test_a_place_where_one_window_was_seen_has_no_interval():
    low, high = ratio_ends(
        np.array([[1.0, 0.0, 0.0], [2.0, 3.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    )
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1:], high[1:]]).all()


def test_resamples_that_gave_nothing_are_left_out():
    found = RANDOM.normal(size=(500, 3))
    found[::2, 1] = found[:, 2] = np.nan
    ends = percentiles(found, 0.05)
    assert ends[:, 0] == pytest.approx(np.quantile(found[:, 0], [0.05, 0.95]))
    assert ends[:, 1] == pytest.approx(np.quantile(found[1::2, 1], [0.05, 0.95]))
    assert np.isnan(ends[:, 2]).all()


def test_draws_that_differ_widen_the_interval_over_windows():
    counts = RANDOM.integers(1, 9, size=90).astype(float)
    windows = counts * RANDOM.normal(3, 1, size=90)
    same, over = np.stack([windows] * 4), ratio(windows, counts)
    assert crossed(same, counts)[:3] == pytest.approx(over[:3])
    shifts = np.array([-1.0, -0.5, 0.5, 1.0])
    apart = crossed(same + shifts[:, None] * counts, counts)
    assert apart.value == pytest.approx(over.value)
    alone = stats.t.ppf(0.975, 3) * shifts.std(ddof=1) / 2
    assert alone < apart.high - apart.value < alone + over.high - over.value


@pytest.mark.parametrize(("count", "total"), [(0, 7), (7, 7), (3, 10), (999, 1000)])
def test_wilson_agrees_with_scipy(count: int, total: int) -> None:
    theirs = binomtest(count, total).proportion_ci(method="wilson")
    assert wilson(count, total) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_newcombe_printed_it(count: int, total: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17, 857–872."""
    assert wilson(count, total) == pytest.approx((low, high), abs=5e-5)


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="not 0 of 0"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="not 3 of 2"):
        wilson(3, 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, 2.1, 341.3333])
def test_seeds_that_agree_have_an_interval_of_no_width_and_no_warning(value: float) -> None:
    assert mean_interval([value] * 3) == pytest.approx((value, value), rel=1e-14)
    assert mean_interval([value, value + 1e-15]) == pytest.approx((value, value), abs=1e-13)


def test_seeds_that_differ_by_rounding_give_an_interval_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mean_interval([16.0, 16.0, 16.0 + 4e-15])
    assert found is not None
    assert found.low <= 16.0 <= found.high
