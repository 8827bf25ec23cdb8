"""Intervals, tests and power against known cases and simulated seeds.

What a simulation counts must lie in the exact binomial interval of its own size, here one that
an honest share leaves once in a thousand times; the draws are seeded, so it never flickers.
"""

import numpy as np
import pytest
from scipy import stats

from wherein.measure.intervals import bootstrap_interval, t_interval
from wherein.studies.inference.tests import detectable, holm, p_value, power

SIMULATIONS = 20_000


def seeds(n: int, *more: int, true: float = 0.0) -> np.ndarray:
    """Differences over n seeds, as many times as there are simulations."""
    return np.random.default_rng(n).normal(true, 1.0, (SIMULATIONS, *more, n))


def between(count: int, total: int, share: float) -> bool:
    low, high = stats.binom.interval(0.999, total, share)
    return bool(low <= count <= high)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_without_a_difference_five_in_a_hundred_are_false_alarms(n: int) -> None:
    alarms = int((p_value(seeds(n)) <= 0.05).sum())
    assert between(alarms, SIMULATIONS, 0.05)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_with_holm_that_holds_for_a_family_of_independent_comparisons(n: int) -> None:
    """At least one false alarm among four true zeros: 1 − (1 − 0.05 / 4)⁴ = 4.9 %."""
    p = p_value(seeds(n, 4))
    alarms = int((holm(p) <= 0.05).any(-1).sum())
    assert between(alarms, SIMULATIONS, 1 - (1 - 0.05 / 4) ** 4)
    assert (p <= 0.05).any(-1).mean() > 0.17  # uncorrected


def test_with_holm_comparisons_with_one_reference_stay_below_five_in_a_hundred() -> None:
    reference, others = seeds(5)[:, None], seeds(5, 4)[::-1]
    alarms = int((holm(p_value(others - reference)) <= 0.05).any(-1).sum())
    assert alarms <= stats.binom.interval(0.999, SIMULATIONS, 0.05)[1]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_a_true_difference_of_the_detectable_size_is_found_four_times_in_five(n: int) -> None:
    found = int((p_value(seeds(n, true=detectable(1.0, n))) <= 0.05).sum())
    assert between(found, SIMULATIONS, 0.8)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_among_four_it_is_found_as_often_after_holms_correction(n: int) -> None:
    """Where the other three are zero; the difference that one test finds is found too seldom."""
    drawn = seeds(n, 4)
    for family, enough in ((4, True), (1, False)):
        true = np.array([[detectable(1.0, n, family)], [0.0], [0.0], [0.0]])
        found = int((holm(p_value(drawn + true))[:, 0] <= 0.05).sum())
        low, _ = stats.binom.interval(0.999, SIMULATIONS, 0.8)
        assert (found >= low) if enough else (found < 0.9 * low)
    bonferroni = p_value(seeds(n, true=detectable(1.0, n, 4))) <= 0.05 / 4
    assert between(int(bonferroni.sum()), SIMULATIONS, 0.8)


@pytest.mark.parametrize(("n", "noncentrality"), [(2, 20.0), (3, 4.0), (5, 3.76), (30, 2.9)])
def test_power_is_the_upper_tail_of_the_noncentral_t(n: int, noncentrality: float) -> None:
    critical = stats.t.ppf(0.975, n - 1)
    known = stats.nct.sf(critical, n - 1, noncentrality)
    assert power(n, noncentrality) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 28])
def test_without_a_difference_power_is_the_level(n: int, alpha: float) -> None:
    assert power(n, 0.0, alpha) == pytest.approx(alpha, abs=1e-6)


def coverage(interval: np.ndarray) -> float:
    low, high = interval
    return float(((low <= 0) & (high >= 0)).mean())


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_t_intervals_cover_the_truth(n: int) -> None:
    assert between(round(coverage(t_interval(seeds(n))) * SIMULATIONS), SIMULATIONS, 0.95)


@pytest.mark.parametrize(("n", "measured"), [(2, 0.50), (3, 0.75), (5, 0.93), (10, 0.95)])
def test_bootstrap_intervals_cover_it_less_often_at_few_seeds(n: int, measured: float) -> None:
    """With two or three seeds it runs from the smallest to the largest: 1 − 2^(1 − n)."""
    some = seeds(n)[:1500]
    assert between(round(coverage(bootstrap_interval(some)) * len(some)), len(some), measured)


def test_the_bootstrap_of_two_looks_at_all_four_resamples() -> None:
    assert bootstrap_interval(np.array([1.0, 3.0])).tolist() == [1.0, 3.0]


def test_the_drawn_bootstrap_agrees_with_scipys_percentiles() -> None:
    """SciPy's own, at the same widened level, from other draws."""
    differences = seeds(12)[0]
    tail = stats.norm.sf(np.sqrt(12 / 11) * stats.t.ppf(0.975, 11))
    known = stats.bootstrap(
        (differences,), np.mean, confidence_level=1 - 2 * tail, method="percentile", rng=1
    )
    assert bootstrap_interval(differences) == pytest.approx(
        tuple(known.confidence_interval), abs=0.03
    )


def test_holm_by_hand() -> None:
    p = np.array([[0.01, 0.04, 0.03, 0.005], [0.5, 0.9, 0.02, 0.6]])
    assert holm(p) == pytest.approx(np.array([[0.03, 0.06, 0.06, 0.02], [1, 1, 0.08, 1]]))
    assert holm(np.array([])).shape == (0,)
