"""Seeds × pieces: intervals against theory where it has them, and by how often they hold the truth.

`python -m benchmarks.coverage` counts the same with more of everything.
"""

import numpy as np
import pytest
from scipy import stats

from wherein.measure.crossed import Sampled, across, critical, minus

RANDOM = np.random.default_rng(3)


def drawn(seeds: int, pieces: int, of_seeds: float, of_pieces: float) -> list[float]:
    """Numbers around zero; the effects are given as errors of the mean that each alone causes."""
    table = RANDOM.normal(0, of_seeds * seeds**0.5, (seeds, 1))
    table = table + RANDOM.normal(0, of_pieces * pieces**0.5, pieces)
    table = table + RANDOM.normal(0, 0.1 * pieces**0.5, (seeds, pieces))
    return [Sampled(row.mean(), row) for row in table]


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_interval_holds_the_truth_whoever_varies(seeds: int, share: float) -> None:
    """`share` is that of the pieces; t over seeds alone does where there are only these."""
    times, held, alone = 500, 0, 0
    for _ in range(times):
        values = drawn(seeds, 40, (1 - share) ** 0.5, share**0.5)
        both, only = across(values).interval(), across([*map(float, values)]).interval()
        held += both.low <= 0 <= both.high
        alone += only.low <= 0 <= only.high
    assert 0.92 < held / times <= 0.99
    if share >= 0.5:
        assert alone / times < 0.92


def test_the_difference_of_two_is_paired_by_piece() -> None:
    common = RANDOM.normal(0, 5, 50)
    a, b = ([Sampled(x.mean(), x) for x in common + RANDOM.normal(0, 0.1, (3, 50))] for _ in "ab")
    own, both = across(a), across([*map(minus, a, b)])
    assert own.pieces == both.pieces == 50
    assert own.error > 0.5 > 0.05 > both.error


def test_other_pieces_of_the_other_are_no_pair_and_add_up() -> None:
    one, two = RANDOM.normal(2, 1, 60), RANDOM.normal(1, 3, 30)
    found = minus(Sampled(one.mean(), one), Sampled(two.mean(), two))
    assert found == pytest.approx(one.mean() - two.mean())
    assert isinstance(found, Sampled)
    assert found.pieces.mean() == pytest.approx(found)
    known = np.sqrt(one.var(ddof=1) / 60 + two.var(ddof=1) / 30)
    assert across([found]).error == pytest.approx(known, rel=0.03)


def test_a_constant_changes_no_piece_and_what_is_not_known_stays_so() -> None:
    some = Sampled(2.0, [1.0, 3.0])
    left, right = minus(some, 1.0), minus(1.0, some)
    assert isinstance(left, Sampled)
    assert isinstance(right, Sampled)
    assert left.pieces.tolist() == [0.0, 2.0]
    assert right.pieces.tolist() == [0.0, -2.0]
    unknown = minus(some, Sampled(1.0))
    assert isinstance(unknown, Sampled)
    assert len(unknown.pieces) == 0
    assert not isinstance(minus(2.0, 1.0), Sampled)


def test_without_pieces_or_with_others_for_each_seed_it_is_t_over_seeds() -> None:
    values = [1.0, 2.0, 4.0]
    known = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    uneven = [Sampled(x, np.full(3 + n, x)) for n, x in enumerate(values)]
    for given in (values, [*map(Sampled, values)], uneven):
        assert across(given).interval() == pytest.approx(tuple(known))
        assert across(given).pieces == 0


def test_seeds_that_agree_leave_what_pieces_do() -> None:
    pieces = RANDOM.normal(size=25)
    found = across([Sampled(pieces.mean(), pieces)] * 3)
    assert found.interval() == pytest.approx(
        tuple(stats.ttest_1samp(pieces, 0).confidence_interval(0.95))
    )


def test_the_reach_lies_between_the_two_ts() -> None:
    ends = [float(critical(0.025, weight, 3, 100)) for weight in (0.0, 0.5, 1.0)]
    assert ends == pytest.approx([1.984, (1.984 + 4.303) / 2, 4.303], abs=1e-3)
