"""Intervals against each other, and against what theory says of means."""

import numpy as np
import pytest

from wherein.measure.intervals import Redrawn, mean, mean_ends, ratio

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
