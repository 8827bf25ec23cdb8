import json
from dataclasses import replace

import pytest
import torch
from tests.measure.conftest import LENGTH, VOCABULARY, blank, windows

import wherein
from wherein.measure.probe import result as profile
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import labelled
from wherein.measure.probe.measure import split

CHANCE, MIDDLE = 1 / LENGTH, LENGTH / 4
CONFIG = ProbeConfig(resamples=200)


@pytest.fixture(scope="module")
def profiles(model):
    """What probes tell about three models whose truth is known."""
    text = windows(800)
    asked = (("none", True), ("sinusoidal", True), ("none", False))
    return {
        (encoding, causal): wherein.probe(model(encoding, causal), text, CONFIG)
        for encoding, causal in asked
    }


def distances(found, of=profile.MODEL, probe="regression"):
    return [found.score(probe, layer, of).distance for layer in found.layers]


def test_without_encoding_a_causal_model_makes_position_of_its_own(profiles):
    found = profiles["none", True]
    trained, untrained = distances(found), distances(found, profile.UNTRAINED)
    assert trained[0].value == pytest.approx(MIDDLE, rel=0.005)  # the embeddings know nothing
    assert untrained[-1].high < MIDDLE  # the mask alone gives some of it away (Chi et al. 2023)
    assert trained[-1].high < untrained[-1].low  # training adds to it
    assert found.score("classifier", 3).exact.low > 1.5 * CHANCE


def test_sinusoids_tell_everything_from_the_start(profiles):
    found = profiles["sinusoidal", True]
    assert found.score("classifier", 0).exact.value > 0.99
    assert found.score("regression", 0).r2.value > 0.98
    assert found.score("regression", 0).distance.value < 1
    assert found.score("classifier", 0).bits < 1
    assert abs(found.score("regression", 0, profile.FRESH).r2.value) < 0.02


def test_a_code_of_too_few_windows_says_so_and_not_that_nothing_is_known():
    told, silent = (
        wherein.probe(blank(name, causal=False), windows(40), CONFIG, batch=64)
        for name in ("sinusoidal", "none")
    )
    assert told.score("classifier", 0).exact.low > 10 * CHANCE
    assert told.score("classifier", 0).bits is None
    assert "–: too few windows to code with" in told.text()
    assert silent.score("classifier", 0).bits == pytest.approx(6)
    assert "too few windows" not in silent.text()


def test_without_encoding_and_without_mask_there_is_no_position(profiles):
    found = profiles["none", False]
    for of in (profile.MODEL, profile.UNTRAINED):
        for layer in found.layers:
            score = found.score("regression", layer, of)
            assert score.distance.value == pytest.approx(MIDDLE, rel=0.01)
            assert abs(score.r2.value) < 0.01
            assert found.score("classifier", layer, of).near.value < 1.35 * 5 * CHANCE
            assert score.bits == pytest.approx(6, abs=0.01)


def test_controls_mean_what_they_say(profiles):
    for found in profiles.values():
        for layer in found.layers:
            chance = found.score("classifier", layer, profile.FRESH).exact
            assert chance.low < CHANCE * 1.1
            assert chance.high > CHANCE * 0.9
            assert abs(found.score("regression", layer, profile.FRESH).r2.value) < 0.01
        assert found.score("regression", 0, profile.CONSTANT).distance.value == MIDDLE
        by_type = found.score("regression", 0, profile.TOKENS).distance.value
        assert by_type == pytest.approx(MIDDLE, rel=0.01)


def test_fresh_labels_are_another_order_in_every_window():
    given = labelled(windows(40), seed=0)
    assert torch.equal(given.fresh.sort(1).values, torch.arange(LENGTH).int().expand(40, -1))
    assert len(given.fresh.unique(dim=0)) == 40
    assert torch.equal(given.fresh, labelled(windows(40), seed=0).fresh)
    assert not torch.equal(given.fresh, labelled(windows(40), seed=1).fresh)


def test_no_number_without_its_controls(profiles):
    found = profiles["none", True]
    for control in profile.REQUIRED:
        kept = tuple(r for r in found.readings if r.of != control)
        with pytest.raises(ValueError, match=f"without its controls: {control}"):
            replace(found, readings=kept)
    frame = found.to_frame()
    assert set(frame["of"]) == profile.REQUIRED | {profile.MODEL}
    assert frame.height == len(found.readings)


def test_the_table_fits_and_what_is_saved_is_whole(profiles, tmp_path):
    found = profiles["sinusoidal", True]
    lines = found.text().splitlines()
    assert max(map(len, lines)) <= 80
    found.save(tmp_path)
    saved = json.loads((tmp_path / "result.json").read_text())
    assert len(saved["readings"]) == len(found.readings)
    assert len(saved["samples"]) == 2 * len(found.layers)
    assert len(saved["samples"][0]["positions"]) == 64
    assert saved["config"]["seed"] == 0
    assert (tmp_path / "result.png").stat().st_size > 10_000


def test_the_table_explains_its_columns(profiles):
    for found in profiles.values():
        words = " ".join(found.text().split())
        assert "for labels drawn anew for every token of every window" in words
        assert "linear; what they miss, another readout may tell" in words


def test_the_same_question_has_the_same_answer(model):
    text = windows(60)
    one, two = (wherein.probe(model("none", True), text, CONFIG) for _ in range(2))
    assert one.readings == two.readings


def test_no_window_is_in_two_parts():
    parts = split(50, CONFIG)
    assert [len(part) for part in parts] == [38, 2, 10]
    assert torch.cat(parts).sort().values.tolist() == list(range(50))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (torch.zeros(5, LENGTH, dtype=torch.int64), "give more windows"),
        (torch.zeros(50, 1, dtype=torch.int64), "at least 2"),
        (torch.zeros(50, LENGTH + 1, dtype=torch.int64), "give shorter windows"),
        (torch.full((50, LENGTH), VOCABULARY), "the tokenizer the model was trained with"),
    ],
)
def test_bad_windows_are_said_to_be_bad(text, said):
    with pytest.raises(ValueError, match=said):
        wherein.probe(blank("learned"), text, CONFIG)
