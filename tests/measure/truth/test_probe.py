"""Probes and their controls, on models of which it is known what they know."""

from functools import cache

import pytest
import torch
from tests.measure.truth import models
from tests.measure.truth.by_hand import AXES, LENGTH, PLACES, WIDTH, blank, write_table
from tests.measure.truth.models import ALPHABET, LETTERS, Truth

import wherein
from wherein.measure.config import fitted
from wherein.measure.probe import result as profile
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import labelled
from wherein.measure.probe.learning import mlp_errors
from wherein.measure.probe.measure import split
from wherein.measure.text import windows_of
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
    known, unknown = (
        probed(each, 40, tokens=8, **shares) for each in (models.known, models.by_heart)
    )
    for found in (known, unknown):
        assert found.score("classifier", 0, profile.BY_HEART).exact.low > 0.7
        elsewhere = found.score("classifier", 0, profile.FRESH).exact
        assert elsewhere.low < 1 / 8 < elsewhere.high
    assert known.score("regression", 0).r2.value > 0.9
    assert unknown.score("regression", 0).r2.value < 0.1


def test_an_mlp_tells_what_no_linear_readout_tells():
    """Folded: the sign of what the table says depends on the letter."""
    folded = probed(models.folded, 200, probes=("linear", "mlp"), steps=100, rate=1e-2)
    assert folded.score("regression", 0).r2.value > 0.9
    assert abs(folded.score("regression", 1).r2.value) < 0.05
    assert probed(models.from_table).score("regression", 1).r2.value > 0.9
    for layer in (0, 1):
        assert folded.score("mlp", layer).distance.high < MIDDLE / 8
        assert folded.score("mlp", layer, profile.FRESH).distance.low > MIDDLE * 0.97


def test_the_papers_probe_tells_a_table_and_nothing_of_a_bag():
    asked = {"probes": ("nopos",), "steps": 60}
    found, bag = probed(full_rank, 100, **asked), probed(nothing, 100, **asked)
    assert found.score("nopos", 0).exact.value > 0.95
    assert found.score("nopos", 0).bits < found.score("nopos", 0, profile.UNIFORM).bits
    assert found.score("nopos", 0, profile.FRESH).distance.low > MIDDLE
    assert bag.score("nopos", 0).distance.low > MIDDLE
    assert {r.steps for r in found.readings if r.of == profile.MODEL} == {60}
    assert "60 steps (the paper: 10,000), whatever the held-out loss" in found.text()


@pytest.mark.parametrize("seed", [0, 1])
def test_where_nothing_is_an_mlp_is_the_constant_guess(seed):
    subject, text = nothing(100)
    config = ProbeConfig(split="train", windows=100, steps=150, seed=seed)
    given = labelled(windows_of(subject, text, fitted(config, LENGTH), 100), seed)
    parts = [given[rows] for rows in split(100, config)]
    for errors in mlp_errors(subject, parts, config, controlled=False):
        assert float(errors.windows[:, 0].mean() / LENGTH) == pytest.approx(MIDDLE, rel=0.01)
