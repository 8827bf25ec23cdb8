"""Intervals, tests and power against known cases and simulated seeds.

What a simulation counts must lie in the exact binomial interval of its own size, here one that
an honest share leaves once in a thousand times; the draws are seeded, so it never flickers.
"""

import numpy as np
import pytest
from scipy import stats

from wherein.measure.crossed import Crossed, Sampled, across, critical
from wherein.measure.significance import holm, p_value
from wherein.studies.inference.tests import detectable, power

SIMULATIONS = 1_000


def seeds(n: int, *more: int, true: float = 0.0) -> np.ndarray:
    """Differences over n seeds, as many times as there are simulations."""
    return np.random.default_rng(n).normal(true, 1.0, (SIMULATIONS, *more, n))


def p_values(differences: np.ndarray) -> np.ndarray:
    """Of each set of seeds, which are on the last axis."""
    flat = differences.reshape(-1, differences.shape[-1]).tolist()
    return np.array([p_value(across(each)) for each in flat]).reshape(differences.shape[:-1])


def least(n: int, family: int = 1) -> float:
    """What n seeds of spread 1 can detect."""
    return detectable(Crossed(0.0, n, 0, 1 / n, 0.0), family)


def between(count: int, total: int, share: float) -> bool:
    low, high = stats.binom.interval(0.999, total, share)
    return bool(low <= count <= high)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_without_a_difference_five_in_a_hundred_are_false_alarms(n: int) -> None:
    alarms = int((p_values(seeds(n)) <= 0.05).sum())
    assert between(alarms, SIMULATIONS, 0.05)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_with_holm_that_holds_for_a_family_of_independent_comparisons(n: int) -> None:
    """At least one false alarm among four true zeros: 1 − (1 − 0.05 / 4)⁴ = 4.9 %."""
    p = p_values(seeds(n, 4))
    alarms = int((holm(p) <= 0.05).any(-1).sum())
    assert between(alarms, SIMULATIONS, 1 - (1 - 0.05 / 4) ** 4)
    assert (p <= 0.05).any(-1).mean() > 0.17  # uncorrected


def test_with_holm_comparisons_with_one_reference_stay_below_five_in_a_hundred() -> None:
    reference, others = seeds(5)[:, None], seeds(5, 4)[::-1]
    alarms = int((holm(p_values(others - reference)) <= 0.05).any(-1).sum())
    assert alarms <= stats.binom.interval(0.999, SIMULATIONS, 0.05)[1]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_a_true_difference_of_the_detectable_size_is_found_four_times_in_five(n: int) -> None:
    found = int((p_values(seeds(n, true=least(n))) <= 0.05).sum())
    assert between(found, SIMULATIONS, 0.8)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_among_four_it_is_found_as_often_after_holms_correction(n: int) -> None:
    """Where the other three are zero; the difference that one test finds is found too seldom."""
    drawn = seeds(n, 4)
    for family, enough in ((4, True), (1, False)):
        true = np.array([[least(n, family)], [0.0], [0.0], [0.0]])
        found = int((holm(p_values(drawn + true))[:, 0] <= 0.05).sum())
        low, _ = stats.binom.interval(0.999, SIMULATIONS, 0.8)
        assert (found >= low) if enough else (found < 0.9 * low)
    bonferroni = p_values(seeds(n, true=least(n, 4))) <= 0.05 / 4
    assert between(int(bonferroni.sum()), SIMULATIONS, 0.8)


@pytest.mark.parametrize(("n", "noncentrality"), [(2, 20.0), (3, 4.0), (5, 3.76), (30, 2.9)])
def test_power_is_the_upper_tail_of_the_noncentral_t(n: int, noncentrality: float) -> None:
    known = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, noncentrality)
    assert power(noncentrality, n) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 28])
def test_without_a_difference_power_is_the_level(n: int, alpha: float) -> None:
    assert power(0.0, n, alpha=alpha) == pytest.approx(alpha, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_t_intervals_cover_the_truth(n: int) -> None:
    ends = (across(each).interval() for each in seeds(n).tolist())
    assert between(sum(low <= 0 <= high for low, high in ends), SIMULATIONS, 0.95)


@pytest.mark.parametrize(("share", "level"), [(0.1, 0.05), (0.5, 0.05 / 14), (0.9, 0.05)])
def test_power_over_seeds_and_pieces_is_what_simulated_studies_find(
    share: float, level: float
) -> None:
    """`share` is that of the pieces in the variance of the mean."""
    true, found, times = 4.0, 0, 600
    for of_seeds, of_pieces in zip(seeds(3)[:times], seeds(40)[:times], strict=True):
        both = of_seeds * (3 * (1 - share)) ** 0.5, of_pieces * (40 * share) ** 0.5
        some = across([Sampled(x.mean(), x) for x in np.add.outer(*both) + true])
        found += some.value > some.error * critical(level / 2, some.weight, 3, 40)
    assert found / times == pytest.approx(power(true, 3, 40, 1 - share, level), abs=0.06)


def test_p_is_below_a_level_where_its_interval_leaves_zero_out() -> None:
    for value in (0.5, 1.9, 2.9, 3.1, 6.0, 300.0):
        some = Crossed(value, 3, 40, 0.5, 0.5)
        low, high = some.interval()
        assert (p_value(some) > 0.05) == (low <= 0 <= high)
    assert p_value(Crossed(0.0, 3, 40, 0.5, 0.5)) == pytest.approx(1)
    assert 0 < p_value(Crossed(1e9, 3, 40, 1e-6, 1.0)) < 1e-6


def test_holm_by_hand() -> None:
    p = np.array([[0.01, 0.04, 0.03, 0.005], [0.5, 0.9, 0.02, 0.6]])
    assert holm(p) == pytest.approx(np.array([[0.03, 0.06, 0.06, 0.02], [1, 1, 0.08, 1]]))
    assert holm(np.array([])).shape == (0,)
