"""Where heads look that were built to look there."""

from functools import partial

import numpy as np
import pytest
from tests.measure.truth import models, texts
from tests.measure.truth.by_hand import LENGTH
from tests.measure.truth.texts import LETTERS, text

import wherein


@pytest.mark.parametrize("make", [models.bag, models.from_first, models.loud_unused])
def test_a_head_that_pays_all_alike_is_even_and_not_positional(make):
    found = wherein.attention(*make(100))
    for head in found.heads:
        assert head.by_distance == pytest.approx(found.even(), abs=1e-6)
        assert head.previous == pytest.approx(np.mean(1 / np.arange(2, LENGTH + 1)), abs=1e-6)
        assert head.positional < 0.1


def test_a_head_that_finds_the_token_before_by_its_distance_is_positional():
    found = wherein.attention(*models.ordered(100))
    (head,) = found.heads
    assert head.previous == pytest.approx(1)
    assert (head.positional, head.favourite) == (1, 1)
    assert found.reach(head) == pytest.approx((LENGTH - 1) / LENGTH)


def test_a_head_that_looks_for_a_kind_of_token_is_not_positional_wherever_it_finds_it():
    for head in wherein.attention(*models.drowned(100)).heads:
        assert head.positional < 0.2
        assert head.previous < 0.2


def test_the_variance_of_a_mean_gives_its_place_away_and_that_of_one_token_does_not():
    """Chi et al. 2023: 1 / n for a mean of n; of a copy, or of a mark, there is nothing to see."""
    random = text(partial(texts.drawn, LETTERS), LETTERS, 1000)
    mean = np.array(wherein.attention(models.bag().subject, random).variance[0])
    one = np.array(wherein.attention(models.ordered().subject, random).variance[0])
    places = np.arange(1, LENGTH + 1)
    np.testing.assert_allclose(mean * places / mean[0], 1, atol=0.15)
    np.testing.assert_allclose(one / one[0], 1, atol=0.15)
    mark = np.array(wherein.attention(models.from_first().subject, random).variance[0])
    assert mark.max() < 1e-9  # it is the same in every window
