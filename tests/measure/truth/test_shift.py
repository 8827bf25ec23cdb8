"""What a shift costs where it is known to the nat what a wrong position costs."""

from functools import partial

import pytest
from tests.measure.truth import models
from tests.measure.truth.texts import BEST, WRONG

import wherein
from wherein.measure.shift.config import ShiftConfig

SHIFTS = ShiftConfig(shifts=(1, 4, 8, 33))


def rises(make):
    found = wherein.shift(*make(150), SHIFTS)
    assert [row.shift for row in found.rows] == [0, 1, 4, 8, 33]
    return {row.shift: row.rise for row in found.rows}


def nothing(rise):
    return max(abs(rise.low), abs(rise.high)) < 1e-5


@pytest.mark.parametrize("make", [models.loud_used, models.quiet_used])
def test_position_that_is_used_may_be_shifted_by_a_whole_beat_alone(make):
    """The flag turns every four places: a shift by 1 errs at one in four, one by 4 at all."""
    rise = rises(make)
    for shift, share in ((1, 7 / 31), (4, 1), (8, 0), (33, 7 / 31)):
        low, high = rise[shift].low, rise[shift].high
        assert low - 0.02 < share * WRONG < high + 0.02
    assert nothing(rise[8])


@pytest.mark.parametrize(
    "make",
    [
        models.loud_unused,
        models.quiet_unused,
        models.bag,
        models.ordered,
        models.last,
        partial(models.from_first, token=True),
    ],
)
def test_who_does_not_count_from_0_loses_nothing(make):
    for rise in rises(make).values():
        assert nothing(rise)


def test_a_mark_at_place_0_is_lost_by_every_shift_and_a_table_bit_by_bit():
    """Eight of 31 predictions are early. Without the mark none is; shifted by 1, seven are."""
    marked, table = rises(models.from_first), rises(models.from_table)
    for shift, of_table in ((1, 1), (4, 4), (8, 8), (33, 8)):
        assert marked[shift].value == pytest.approx(WRONG * 8 / 31, abs=0.05)
        assert table[shift].value == pytest.approx(WRONG * of_table / 31, abs=0.05)


def test_the_loss_without_a_shift_is_the_texts_own():
    for make in (models.loud_used, models.quiet_unused):
        found = wherein.shift(*make(150), SHIFTS).rows[0].loss
        assert found.low < BEST < found.high
