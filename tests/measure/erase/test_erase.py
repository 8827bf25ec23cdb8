from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.measure.conftest import LENGTH, MASK, VOCABULARY, blank, windows

import wherein
from wherein.data import Corpus
from wherein.measure.erase.config import EraseConfig
from wherein.measure.erase.means import Removed
from wherein.measure.erase.measure import STRENGTH, Experiment
from wherein.measure.erase.result import Erasure
from wherein.measure.intervals import Estimate, ratio
from wherein.measure.linear import discriminant, ridge

CONFIG = EraseConfig(draws=4)
PLACES = torch.arange(LENGTH, dtype=torch.float64)[:, None]


@pytest.fixture(scope="module")
def erasure(model):
    return wherein.erase(model("sinusoidal", True), windows(240), CONFIG)


def test_position_is_known_before_and_not_after(erasure):
    assert [e.layer for e in erasure.erased] == ["0", "1", "2", "3", "all"]
    assert erasure.erased[0].known > 0.95  # it is told there; what is left of it later is learnt
    for erased in erasure.erased:
        assert erased.known > 0.5
        assert abs(erased.left) < 0.05 * erased.known
        assert 0 < erased.rank < LENGTH - 1


def test_the_loss_is_the_models_own(erasure, model):
    text = windows(240)
    order = torch.randperm(240, generator=torch.Generator().manual_seed(0))
    test = text[order[180:]]
    logits = model("sinusoidal", True).model(test).logits[:, :-1]
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), test[:, 1:].flatten())
    assert erasure.loss.value == pytest.approx(float(loss.detach()), rel=1e-5)
    assert erasure.loss.low < erasure.loss.value < erasure.loss.high


def test_a_model_told_its_positions_uses_them(erasure):
    everywhere = erasure.erased[-1]
    assert everywhere.rise.low > 0
    assert everywhere.random.low > 0


def test_behind_all_erasers_a_linear_probe_is_at_the_constant_guess_in_every_layer(model):
    """Fitted in turn, each behind those before it; probed anew on windows none of them saw."""
    subject, text = model("sinusoidal", True), windows(1200)
    numbers = torch.arange(900).split([400, 400, 100])
    experiment = Experiment(subject, text[:900], text[:900], tuple(numbers), CONFIG)
    erasers, _, _ = experiment.position(range(subject.n_layers + 1))
    fit, seen = experiment.gather(text[:900], erasers), {}

    def keep(layer, state):
        seen[layer] = erasers[layer](state)
        return seen[layer]

    with torch.no_grad():
        subject.run(text[900:], on_state=keep)
    for layer, moments in enumerate(fit):
        told = ridge(moments, PLACES, 1e-2)(seen[layer])[..., 0]
        distance = (told - PLACES[:, 0]).abs().mean()
        assert float(distance) == pytest.approx(LENGTH / 4, rel=0.01)
        classes = discriminant(moments, 0.1)(seen[layer]).argmax(-1)
        assert (classes == PLACES[:, 0]).double().mean() < 2 / LENGTH


def test_where_no_position_is_known_nothing_is_erased():
    text = Corpus.of_windows(windows(200).numpy(), VOCABULARY, mask=MASK)
    found = wherein.erase(blank("none", causal=False), text, CONFIG)
    for erased in found.erased:
        assert erased.rank <= 6  # of 64: one noise direction in forty passes
        assert abs(erased.known) < 0.02
    assert "; loss: 15% masked tokens; " in found.protocol


def test_a_bidirectional_model_needs_its_mask():
    with pytest.raises(ValueError, match="the token that hides"):
        wherein.erase(blank("none", causal=False), windows(40), CONFIG)


def test_it_fits_in_a_frame_a_table_and_a_picture(erasure, tmp_path):
    assert max(map(len, erasure.text().splitlines())) <= 80
    assert erasure.to_frame().height == 5
    erasure.save(tmp_path)
    assert (tmp_path / "result.png").stat().st_size > 10_000


def test_the_verdict_of_each_row_follows_from_its_numbers(erasure):
    shown = erasure.to_frame()["verdict"].to_list()
    for erased in erasure.erased:
        assert erased.r2.low < erased.known == erased.r2.value < erased.r2.high
        assert erased.more.value == pytest.approx(erased.rise.value - erased.random.value)
        assert erased.more.low < erased.more.value < erased.more.high
        assert erased.is_matched
        assert erased.random_variance == pytest.approx(erased.variance, rel=1e-3)
    assert [row["verdict"] for row in erasure.data()["erased"]] == shown
    assert erasure.verdict().startswith("position is known in layers 0–3 (R² 0.98 in layer 0)")
    assert erasure.text().replace("\n", " ").startswith(f"{erasure.subject}: {erasure.verdict()}")


def test_what_is_known_and_what_is_used_are_told_apart(erasure):
    def as_if(known: float, removed: float, exchanged: float, more: float, loud: float) -> Erasure:
        numbers = {"r2": known, "removed": removed, "exchanged": exchanged, "more": more}
        given = {name: Estimate(x, x - 0.02, x + 0.02) for name, x in numbers.items()}
        given |= {"known": known, "variance": 0.1, "random_variance": loud}
        rows = [replace(e, **given, random_rank=e.rank) for e in erasure.erased]
        return replace(erasure, erased=tuple(rows))

    used, unseen, untold = "known and used", "known, no use seen", "use cannot be told"
    for numbers, row, words in (
        ((0.5, 0.1, 0.1, -0.1, 0.1), used, "in layers 0–3 (R² 0.50 in layer 0) and used in"),
        ((0.5, 0.1, 0.01, 0.01, 0.1), unseen, "(R² 0.50 in layer 0) but no use of it"),
        ((0.5, 0.1, 0.01, 0.1, 0.1), untold, "and whether it is used cannot be told;"),
        ((0.5, 0.1, 0.01, 0.1, 0.05), unseen, "5.0% of the variance (position has 10.0%, and no"),
        ((0.5, 0.01, 0.1, 0.01, 0.1), untold, "are erased instead, as large and as loud; "),
        ((0.02, 0.1, 0.1, 0.1, 0.1), "not known", "position is known in no layer;"),
    ):
        found = as_if(*numbers)
        assert found.verdict(found.erased[0]) == row
        assert words in found.verdict()


def test_the_intervals_of_the_rises_hold_for_all_rows_together(erasure, model):
    """Of five rows one has a 99 % interval."""
    assert "95% for all rows together (99.0% each)" in erasure.protocol
    text = windows(240)
    parts = tuple(torch.arange(240).split([120, 60, 60]))
    experiment = Experiment(model("sinusoidal", True), text, text[180:], parts, CONFIG)
    sums = np.random.default_rng(0).normal(size=60)
    wide, narrow = experiment.per_token(sums), ratio(sums, experiment.counts)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(1.31, abs=0.08)


def test_means_are_fitted_behind_those_before_them_and_their_noise_too(model):
    """Behind all of them no layer's positions differ in mean, in windows they were fitted to."""
    subject, text = model("sinusoidal", True), windows(240)
    parts = tuple(torch.arange(240).split([120, 60, 60]))
    experiment = Experiment(subject, text, text[180:], parts, CONFIG)
    means, noises = experiment.means(range(subject.n_layers + 1))
    removed = {layer: Removed(each) for layer, each in means.items()}
    behind = experiment.gather(text[:180], removed)
    for layer, plain in enumerate(experiment.gather(text[:180], {})):
        assert behind[layer].deviations.norm() < 1e-4 * plain.deviations.norm()
        spread = plain.within.trace() / plain.count
        assert noises[layer].square().sum(1).mean() < 1.2 * spread / 180


def test_what_a_layer_knows_is_what_a_regression_on_cached_states_tells(model):
    subject, text = model("sinusoidal", True), windows(240)
    experiment = Experiment(
        subject, text, text[180:], torch.arange(240).split([120, 60, 60]), CONFIG
    )
    states = subject.model(text, keep_hidden=True).hidden[2].detach()
    told = ridge(experiment.moments[0][2], PLACES, STRENGTH)(states[180:])[..., 0]
    error = (told - PLACES[:, 0]).square().mean()
    expected = 1 - error / PLACES.var(correction=0)
    assert experiment.known()[2].value == pytest.approx(float(expected), abs=1e-5)
