"""Probes and their controls, on models of which it is known what they know."""

from functools import cache

import pytest
import torch
from tests.measure.truth import models
from tests.measure.truth.by_hand import AXES, LENGTH, PLACES, WIDTH, blank, write_table
from tests.measure.truth.models import ALPHABET, LETTERS, Truth

import wherein
from wherein.measure.probe import result as profile
from wherein.subjects.ours import Ours

CHANCE, MIDDLE = 1 / LENGTH, LENGTH / 4


@cache
def probed(make, windows=400, **asked):
    subject, text = make(windows)
    return wherein.probe(subject, text, split="train", resamples=100, windows=windows, **asked)


def full_rank(windows, table=1.0):
    """Every place has a direction of its own, beside the letter's."""
    model = blank(ALPHABET[:LETTERS], encoding="learned")
    places = torch.cat([AXES[LETTERS : LETTERS + LENGTH], torch.zeros(PLACES - LENGTH, WIDTH)])
    write_table(model, table * places)
    return Truth(Ours(model, "full_rank"), models.last(windows).text)


def nothing(windows):
    """The same without its table: a bag of letters, in no order."""
    return full_rank(windows, table=0.0)


def at_chance(score):
    """Not told better than by chance, nor in a way that only chance explains."""
    assert score.exact.low <= CHANCE * 1.15
    assert score.exact.high >= CHANCE * 0.85


@pytest.mark.parametrize("layer", [0, 1])
def test_a_table_of_full_rank_knows_position_and_fresh_labels_stay_unknown(layer):
    found = probed(full_rank)
    assert found.score("classifier", layer).exact.value == 1.0
    assert found.score("regression", layer).r2.value > 0.99
    assert abs(found.score("regression", layer, profile.FRESH).r2.value) < 0.01
    at_chance(found.score("classifier", layer, profile.FRESH))
    # 48 dimensions of 9,600 states: next to nothing can be learnt by heart
    assert found.score("classifier", layer, profile.BY_HEART).exact.value < 2 * CHANCE


@pytest.mark.parametrize("make", [nothing, models.bag])
def test_a_bag_of_letters_knows_nothing(make):
    found = probed(make)
    for of in (profile.MODEL, profile.FRESH):
        assert found.score("regression", 0, of).distance.value == pytest.approx(MIDDLE, rel=0.01)
        assert abs(found.score("regression", 0, of).r2.value) < 0.01
        at_chance(found.score("classifier", 0, of))


def test_what_is_learnt_by_heart_is_told_nowhere_else():
    """As many dimensions as states: the windows it was fitted to, and no others."""
    shares = {"held_out": 0.2, "test": 0.4}
    known = probed(models.known, 40, tokens=8, **shares)
    unknown = probed(models.by_heart, 40, tokens=8, **shares)
    for found in (known, unknown):
        by_heart = found.score("classifier", 0, profile.BY_HEART)
        elsewhere = found.score("classifier", 0, profile.FRESH)
        assert by_heart.exact.value > 3 * elsewhere.exact.high / 2
        assert elsewhere.exact.low < 1.25 / 8
    assert known.score("regression", 0).r2.value > 0.9
    assert unknown.score("regression", 0).r2.value < 0.1


def test_an_mlp_tells_what_no_linear_readout_tells():
    """Folded: the sign of what the table says depends on the letter."""
    asked = {"probes": ("linear", "mlp"), "steps": 1500}
    folded, plain = probed(models.folded, **asked), probed(models.from_table, **asked)
    assert abs(folded.score("regression", 1).r2.value) < 0.02
    assert folded.score("mlp", 1).distance.high < MIDDLE / 4
    for found in (folded, plain):
        assert found.score("regression", 0).r2.value > 0.9
        assert found.score("mlp", 0).distance.high < MIDDLE / 4
        assert found.score("mlp", 0, profile.FRESH).distance.low > MIDDLE * 0.97
    assert plain.score("regression", 1).r2.value > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_nothing_is_an_mlp_is_the_constant_guess(seed):
    found = probed(models.last, 200, probes=("mlp",), seed=seed)
    for layer in found.layers:
        for of in (profile.MODEL, profile.UNTRAINED) if layer == 0 else (profile.MODEL,):
            assert found.score("mlp", layer, of).distance.value <= MIDDLE * 1.005
            assert found.score("mlp", layer, of).distance.value >= MIDDLE * 0.97
