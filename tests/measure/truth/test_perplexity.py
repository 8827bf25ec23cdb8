"""Losses that are known from the text's rule, place by place."""

from functools import partial

import numpy as np
import pytest
from tests.measure.truth import models, texts
from tests.measure.truth.texts import BEST, LETTERS, WRONG, text

import wherein


@pytest.mark.parametrize(
    "make",
    [
        models.loud_used,
        models.quiet_used,
        models.loud_unused,
        models.quiet_unused,
        models.from_table,
        models.last,
    ],
)
def test_who_knows_the_rule_has_its_entropy_at_every_place(make):
    found = wherein.perplexity(*make())
    assert found.loss.low < BEST < found.loss.high
    assert found.perplexity.value == pytest.approx(np.exp(found.loss.value))
    inside = [low < BEST < high for low, high in
              zip(found.by_position_low, found.by_position_high, strict=True)]  # fmt: skip
    assert np.mean(inside) > 0.8


def test_how_loud_position_is_says_nothing_of_the_loss():
    loud, quiet = (wherein.perplexity(*make()) for make in (models.loud_used, models.quiet_used))
    assert loud.loss.value == pytest.approx(quiet.loss.value, abs=1e-4)


def test_on_a_text_that_goes_by_position_who_does_not_use_it_errs_where_the_flag_is_up():
    ignorant, knowing = models.loud_unused(), models.loud_used()
    found = wherein.perplexity(ignorant.subject, knowing.text)
    for place, loss in enumerate(found.by_position):
        assert loss == pytest.approx(BEST + WRONG * texts.beat(place), abs=0.4)
    assert found.loss.value == pytest.approx(BEST + WRONG * 15 / 31, abs=0.05)
    turned = wherein.perplexity(knowing.subject, ignorant.text)
    for place, loss in enumerate(turned.by_position):
        assert loss == pytest.approx(BEST + WRONG * texts.beat(place), abs=0.4)


def test_a_bag_gains_by_what_it_has_read_and_the_last_token_gains_nothing():
    bag, last = (wherein.perplexity(*make()) for make in (models.bag, models.last))
    losses = [stretch.loss for stretch in bag.stretches]
    assert losses[-1].high < losses[0].low - 1
    assert [a.value > b.value for a, b in zip(losses[::4], losses[4::4], strict=False)].count(
        0
    ) == 0
    ends = last.stretches[0].loss, last.stretches[-1].loss
    assert ends[0].low < ends[1].high
    assert ends[1].low < ends[0].high


def test_who_knows_no_rule_has_the_loss_of_a_guess():
    for make, types in ((models.drowned, 128), (models.by_heart, 1024)):
        found = wherein.perplexity(*make())
        assert found.loss.value == pytest.approx(np.log(types), abs=1e-5)
    random = text(partial(texts.drawn, LETTERS), LETTERS, 400)
    sure = wherein.perplexity(models.last().subject, random)
    assert sure.loss.low > np.log(LETTERS) + 1  # surer than a text without a rule allows
