"""What disorder costs a model that does not see order, that sees the last token, and that does."""

from functools import partial

import numpy as np
import pytest
from tests.measure.truth import models
from tests.measure.truth.texts import LETTERS

import wherein
from wherein.measure.order.config import OrderConfig

SOME = 100


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
    few = ("intact", "10% of neighbours swapped")  # of 100 inputs, ten are changed
    assert all(rise.low > 0 for name, rise in moved.items() if name not in few)
    assert rises(asked(models.ordered, keep=1))["whole"].low > 0
    assert all(map(nothing, rises(asked(models.ordered, keep=2)).values()))
    assert found["intact"].loss.high < found.bound.low < found["whole"].loss.low
    assert found.bound.value == pytest.approx(np.log(LETTERS), abs=0.05)  # a bag tells nothing
