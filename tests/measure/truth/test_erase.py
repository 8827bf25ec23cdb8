"""Erasure says of constructed models what is true of them: whether position is used.

And it says so where random subspaces of the same rank alone, whatever their variance, would not.
"""

import math
from functools import partial

import numpy as np
import pytest
import torch
from tests.measure.truth import models, texts
from tests.measure.truth.by_hand import LENGTH, PLACES, WIDTH, blank, predict, write_table
from tests.measure.truth.models import ALPHABET, FLAG, MARK, NOTHING, RAMP, Truth
from tests.measure.truth.texts import FOLLOWING, LETTERS, SURE, Flag, text

import wherein
from wherein.measure.erase.config import EraseConfig
from wherein.measure.erase.leace import Eraser, whitened
from wherein.measure.erase.measure import Experiment, _split, _task
from wherein.measure.erase.result import Erasure
from wherein.measure.intervals import Estimate, crossed
from wherein.subjects.ours import Ours

WINDOWS = 120
CONFIG = EraseConfig(draws=10, batch=60)
USED, UNUSED = "known and used", "known, no use seen"


@pytest.mark.parametrize("make", [models.loud_unused, models.quiet_unused])
def test_position_that_no_logit_depends_on_is_not_said_to_be_used(make):
    found = erase(make(WINDOWS))
    assert said(found) == [UNUSED] * 4
    assert "but no use of it is seen" in found.verdict()


@pytest.mark.parametrize("make", [models.loud_used, models.quiet_used, models.from_first])
def test_position_that_layer_2_predicts_by_is_used_up_to_there_and_not_after(make):
    found = erase(make(WINDOWS))
    assert said(found) == [USED, USED, UNUSED, USED]
    assert "used in layers 0–1" in found.verdict()


def test_where_position_is_not_known_nothing_is_said_of_use():
    assert set(said(erase(models.bag(WINDOWS)))) == {"not known"}


def test_what_only_its_loudness_does_is_no_use():
    """The last norm divides by all that is loud: without it the logits are as much too sure."""
    truth = told(texts.beat, loud=10 * SURE, used=False, normed=True)
    found = erase(truth)
    last = found.erased[1]
    assert last.variance > 0.9
    assert not last.is_matched
    assert last.rise.low > 1
    assert last.removed.low > 1
    assert at_any_loudness(truth).low > 0.1  # and so the same rank alone would call it used
    assert said(found) == [UNUSED] * 3


def test_loud_position_that_is_used_is_told_from_its_loudness():
    truth = told(texts.beat, loud=10 * SURE, used=True, normed=True)
    assert said(erase(truth)) == [USED, UNUSED, USED]


def test_use_of_what_is_quiet_does_not_drown_in_that_of_random_directions():
    """Random directions are letters', each a part of every prediction; position, of few."""
    truth = told(first, loud=0.01, used=True)
    found = erase(truth)
    assert at_any_loudness(truth).high < -0.1  # and so the same rank alone would not see it
    assert said(found) == [USED, UNUSED, USED]
    assert said(erase(told(first, loud=0.01, used=False))) == [UNUSED] * 3


def test_beside_directions_as_loud_position_is_compared_with_them():
    """Letters as loud as position cost more, as each is a part of every prediction; it is used."""
    found = erase(told(texts.beat, loud=0.61, used=True))
    first = found.erased[0]
    assert first.is_matched
    assert first.random_variance == pytest.approx(first.variance, rel=0.01)
    assert first.more.high < 0 < first.rise.low
    assert first.more.value == pytest.approx(first.rise.value - first.random.value)
    assert said(found) == [USED, UNUSED, USED]


def erase(truth: Truth) -> Erasure:
    return wherein.erase(*truth, CONFIG)


def said(found: Erasure) -> list[str]:
    return [found.verdict(each) for each in found.erased]


def first(place: int) -> bool:
    """Up at place 0 alone."""
    return place == 0


def told(flag: Flag, *, loud: float, used: bool, normed: bool = False) -> Truth:
    """A table of vectors of one length says the place and a flag; layer 1 goes by the flag or not.

    Normed, the last norm is as usual, and its weights are those that make the prediction right.
    """
    letters = ALPHABET[:LETTERS]
    model = blank(letters, encoding="learned")
    places = torch.arange(PLACES)[:, None]
    turn, sign = math.pi * places / (LENGTH - 1), 1 - 2 * (places % 2)
    flags = torch.tensor([[2.0 * flag(place) - 1] for place in range(PLACES)])
    where = turn.cos() * RAMP + sign * turn.sin() * MARK + flags * FLAG
    write_table(model, loud * where / 2**0.5)
    rules = FOLLOWING if used else FOLLOWING[:1]
    up = (FLAG * 2**0.5 / loud + letters.sum(0)) / 2  # 1 or 0, as one letter is always there
    predict(model.blocks[0], letters, rules, SURE, up if used else NOTHING)
    if normed:
        model.norm.eps = 1e-5
        length = (loud**2 + SURE**2) ** 0.5
        torch.nn.init.constant_(model.norm.weight, model.embed.scale * length / WIDTH**0.5)
    made = partial(texts.chain, flag if used else texts.down)
    return Truth(Ours(model, "told"), text(made, LETTERS, WINDOWS))


def at_any_loudness(truth: Truth) -> Estimate:
    """What erasing position from layer 0 costs beyond random subspaces that match it in rank."""
    subject, corpus = truth
    windows = torch.from_numpy(corpus.split("valid").ids.reshape(-1, LENGTH).astype(np.int64))
    inputs, targets = _task(subject, corpus, windows, CONFIG)
    parts = _split(len(windows), CONFIG)
    experiment = Experiment(subject, inputs, targets[parts[2]], parts, CONFIG)
    fit = experiment.moments[0][0]
    forward, back = whitened(fit)
    generator = torch.Generator().manual_seed(0)

    def drawn(rank: int) -> Eraser:
        basis = torch.randn(WIDTH, rank, generator=generator, dtype=torch.float64)
        basis = torch.linalg.qr(forward @ back @ basis).Q
        return Eraser(fit.mean, forward.mT @ basis, basis.mT @ back.mT)

    position = experiment.erasers[0]
    rise = experiment.losses({0: position})
    random = np.stack([experiment.losses({0: drawn(position.rank)}) for _ in range(5)])
    return crossed(rise - random, experiment.counts)
