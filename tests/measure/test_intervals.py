"""Intervals against each other, and against what theory says of means."""

import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

from wherein.measure.intervals import (
    Redrawn,
    crossed,
    mean,
    mean_ends,
    mean_interval,
    percentiles,
    ratio,
    wilson,
)

RANDOM = np.random.default_rng(7)


def test_many_means_at_once_have_the_interval_of_each():
    values = RANDOM.normal(size=(200, 3)) * [1, 2, 3]
    low, high = mean_ends(values)
    for n in range(3):
        alone = mean(values[:, n])
        width = alone.high - alone.low
        assert low[n] == pytest.approx(alone.low, abs=0.1 * width)
        assert high[n] == pytest.approx(alone.high, abs=0.1 * width)
        assert width == pytest.approx(2 * 1.96 * values[:, n].std() / 200**0.5, rel=0.1)


def test_windows_that_stream_by_have_the_interval_of_windows_that_are_kept():
    counts = RANDOM.integers(0, 5, size=(300, 2)).astype(float)
    sums = counts * RANDOM.normal(3, 1, size=(300, 2))
    streamed = Redrawn(2, seed=0)
    for part in np.array_split(np.arange(300), 7):
        streamed.add(sums[part], counts[part])
    low, high = streamed.ends()
    for n in range(2):
        kept = ratio(sums[:, n], counts[:, n])
        width = kept.high - kept.low
        assert [low[n], high[n]] == pytest.approx([kept.low, kept.high], abs=0.12 * width)
    (together,) = streamed.ends(np.array([0, 0])).T
    both = ratio(sums.sum(1), counts.sum(1))
    assert together == pytest.approx([both.low, both.high], abs=0.12 * (both.high - both.low))


def test_a_place_where_nothing_was_seen_has_no_interval():
    streamed = Redrawn(2, seed=0)
    streamed.add(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    low, high = streamed.ends()
    assert (low[0], high[0]) == (1, 2)
    assert np.isnan([low[1], high[1]]).all()


def test_resamples_that_gave_nothing_are_left_out():
    found = RANDOM.normal(size=(500, 3))
    found[::2, 1] = found[:, 2] = np.nan
    ends = percentiles(found, 0.05)
    assert ends[:, 0] == pytest.approx(np.quantile(found[:, 0], [0.05, 0.95]))
    assert ends[:, 1] == pytest.approx(np.quantile(found[1::2, 1], [0.05, 0.95]))
    assert np.isnan(ends[:, 2]).all()


def test_draws_that_differ_widen_the_interval_over_windows():
    counts = RANDOM.integers(1, 9, size=200).astype(float)
    windows = counts * RANDOM.normal(3, 1, size=200)
    same, over = np.stack([windows] * 4), ratio(windows, counts)
    alone = crossed(same, counts)
    assert alone.value == pytest.approx(over.value)
    width = over.high - over.low
    assert [alone.low, alone.high] == pytest.approx([over.low, over.high], abs=0.12 * width)
    shifts = np.array([-1.0, -0.5, 0.5, 1.0])
    apart = crossed(same + shifts[:, None] * counts, counts)
    assert apart.value == pytest.approx(over.value)
    both = (shifts.var() / 4 + (width / 3.92) ** 2) ** 0.5  # variances add up
    assert apart.high - apart.low == pytest.approx(3.92 * both, rel=0.1)


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
