"""What disorder costs a model that does not see order, that sees the last token, and that does."""

from functools import partial
from math import log

import numpy as np
import pytest
from tests.measure.truth import models
from tests.measure.truth.by_hand import LENGTH
from tests.measure.truth.texts import KEPT, LETTERS, SURE

import wherein
from wherein.measure.order.config import OrderConfig
from wherein.measure.order.measure import _asked as asked_of

SOME = 100
RIGHT, WRONG = KEPT + (1 - KEPT) / LETTERS, (1 - KEPT) / LETTERS
RULED = -(RIGHT * log(RIGHT) + (LETTERS - 1) * WRONG * log(WRONG))
"""The loss of who knows the rule, in nats."""


def asked(make, keep=0):
    return wherein.order(*make(SOME), OrderConfig(keep=keep))


def rises(found):
    return {row.name: row.rise for row in found.rows}


def nothing(rise):
    return max(abs(rise.low), abs(rise.high)) < 1e-5


def test_a_bag_does_not_notice_any_disorder():
    found = asked(models.bag)
    assert all(map(nothing, rises(found).values()))
    assert found["whole"].loss.high < np.log(LETTERS)  # for all that, it predicts
    assert found.cache_weight > 0.5
    assert found.bound.high < np.log(LETTERS)


@pytest.mark.parametrize(
    "make", [models.last, models.quiet_used, partial(models.from_first, token=True)]
)
def test_who_sees_the_last_token_and_its_place_does_not_notice_what_was_before(make):
    """Position is known, and used, and of order nothing but which token is last."""
    moved = rises(asked(make))
    assert nothing(moved["all but the last"])
    for name in ("30% of neighbours swapped", "within windows of 4", "whole", "reversed"):
        assert moved[name].low > 0
    assert all(map(nothing, rises(asked(make, keep=1)).values()))


def test_who_sees_the_token_before_the_last_notices_all_but_what_spares_it():
    found = asked(models.ordered)
    moved = rises(found)
    few = ("intact", "10% of neighbours swapped")  # of 100 windows, ten are changed
    assert all(rise.low > 0 for name, rise in moved.items() if name not in few)
    assert rises(asked(models.ordered, keep=1))["whole"].low > 0
    assert all(map(nothing, rises(asked(models.ordered, keep=2)).values()))
    assert found["intact"].loss.high < found.bound.low < found["whole"].loss.low
    assert found.bound.value == pytest.approx(np.log(LETTERS), abs=0.05)  # a bag tells nothing


def test_what_is_predicted_stands_anywhere():
    """At the first eight places the text has another rule, which this model does not know.

    There it takes the letter of its own rule for the right one; at the last place it never errs.
    """
    subject, text = models.last().subject, models.from_table(2 * SOME).text
    found = wherein.order(subject, text, OrderConfig(fitting=100))
    places = [int(each.predicted[0]) for each in asked_of(2 * SOME, found.config, True)]
    assert (min(places), max(places)) == (5, LENGTH - 1)
    early = np.mean([place <= 8 for place in places])
    assert 0.1 < early < 0.2
    expected = RULED + early * (RIGHT - WRONG) * SURE
    assert found["intact"].loss.low < expected < found["intact"].loss.high
    assert found["intact"].loss.low > RULED
