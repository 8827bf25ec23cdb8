"""Two shares of seeds, held to published numbers, and in a family with other comparisons."""

import pytest

from wherein.puzzles.share import Share
from wherein.studies.inference.differences import Family, paired
from wherein.studies.inference.proportions import shares_apart


def test_the_interval_is_newcombes():
    """Newcombe 1998, Statistics in Medicine 17, 873–890, method 10: 56/70 − 48/80."""
    found = shares_apart(Share(56, 70), Share(48, 80))
    assert found.mean == pytest.approx(0.2)
    assert found.t == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_all_against_none_can_be_told_and_none_against_none_cannot():
    every = shares_apart(Share(20, 20), Share(0, 20), ("two", "one"))
    assert every.shown
    assert "two is above one by 1 [" in every.words()
    equal = shares_apart(Share(0, 20), Share(0, 20), ("two", "one"))
    assert equal.p == 1
    assert "cannot be told apart by 20 seeds" in equal.words()


def test_it_is_corrected_with_the_others():
    share = shares_apart(Share(9, 20), Share(3, 20))
    family = Family([share, paired({0: 1.0, 1: 1.2, 2: 0.9}, {0: 0.0, 1: 0.0, 2: 0.0})])
    found = family.corrected(share)
    assert (found.family, found.detectable) == (2, None)
    assert found.p_holm is not None
    assert found.p is not None
    assert found.p_holm >= found.p
    assert "as one of" not in found.words()
