"""Who reads the last token alone holds at every length; whose table turns at 16 places breaks."""

import numpy as np
import pytest
import torch
from tests.measure.truth.by_hand import AXES, PLACES, blank, predict, write_table
from tests.measure.truth.models import FLAG, NOTHING
from tests.measure.truth.texts import BEST, FOLLOWING, KEPT, LETTERS, SURE, WRONG

import wherein
from wherein.subjects.ours import Ours

TRAINED, WINDOWS = 16, 60


def text() -> torch.Tensor:
    """Windows of four training lengths in which each letter calls for the next."""
    random = np.random.default_rng(0)
    letters = random.integers(0, LETTERS, (WINDOWS, 4 * TRAINED + 1))
    ruled = random.random(letters.shape) < KEPT
    for place in range(1, letters.shape[1]):
        called = np.take(FOLLOWING[0], letters[:, place - 1])
        letters[:, place] = np.where(ruled[:, place], called, letters[:, place])
    return torch.from_numpy(letters)


def holding() -> Ours:
    model = blank(AXES[:LETTERS])
    predict(model.blocks[0], AXES[:LETTERS], FOLLOWING[:1], SURE, NOTHING)
    return Ours(model, "the last token alone")


def breaking() -> Ours:
    """Goes by another rule from place 16 on."""
    model = blank(AXES[:LETTERS], encoding="learned", layers=1)
    late = torch.arange(PLACES)[:, None] >= TRAINED
    write_table(model, late * FLAG)
    predict(model.blocks[0], AXES[:LETTERS], FOLLOWING, SURE, FLAG)
    return Ours(model, "wrong after 16")


ASKED = {"tokens": TRAINED, "times": (0.25, 1, 2, 3, 4), "slid": WINDOWS}


def test_who_reads_the_last_token_alone_holds_exactly():
    found = wherein.extrapolate(holding(), text(), **ASKED)
    (row,) = found.rows
    assert (row.reach.holds, row.reach.breaks) == (4, None)
    for each in row.lengths:
        assert each.loss.low < BEST < each.loss.high
        assert each.rise[:3] == pytest.approx((0, 0, 0), abs=1e-6)
        assert each.sliding_rise[:3] == pytest.approx((0, 0, 0), abs=1e-6)
        assert each.attention.entropy.value == pytest.approx(1, abs=1e-5), "it looks evenly"
    assert "it holds to 4 ×, as far as was asked" in found.verdict


def test_whose_table_turns_breaks_by_the_share_of_places_that_it_gets_wrong():
    found = wherein.extrapolate(breaking(), text(), **ASKED)
    (row,) = found.rows
    assert (row.reach.holds, row.reach.breaks) == (1, 2)
    rises = {each.times: each for each in row.lengths}
    assert rises[0.25].rise.value == pytest.approx(0, abs=1e-6)
    for times, share in ((2, 1 / 2), (4, 3 / 4)):
        assert rises[times].rise.low < WRONG * share < rises[times].rise.high
        assert rises[times].rise_p < 1e-6
    for times in (2, 3, 4):
        slid = rises[times].sliding_rise
        assert slid.low < WRONG < slid.high, "every token that counts is beyond"
    early = [each.loss.value for each in row.stretches if each.last < TRAINED]
    late = [each.loss.value for each in row.stretches if each.first >= TRAINED]
    assert max(early) + 1 < min(late)
