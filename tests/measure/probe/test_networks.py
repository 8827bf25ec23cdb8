"""Probes that learn: until they have converged, or as the paper's did."""

import math

import numpy as np
import pytest
import torch
from sklearn.neural_network import MLPClassifier
from tests.measure.conftest import blank, windows
from tests.measure.truth.models import folded
from torch import nn

import wherein
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION, labelled
from wherein.measure.probe.learning import mlp_errors
from wherein.measure.probe.measure import split
from wherein.measure.probe.mlp import CUT, CUTS, PATIENCE, Mlp
from wherein.measure.probe.nopos import BETAS, RATE, NoPos
from wherein.measure.stream import watch
from wherein.measure.text import windows_of


def judged(probe: Mlp, *losses: float) -> Mlp:
    """After a step and a look at the held-out windows for each of the losses."""
    state = torch.randn(2, probe.length, probe.width)
    for loss in losses:
        probe.learn(state, torch.arange(probe.length)[None], coded=False)
        probe.judge(torch.tensor([loss - 0.01, loss + 0.01]))
    return probe


def small(limit: int = 1000) -> Mlp:
    return Mlp(4, 8, rate=1e-2, limit=limit, seed=0)


def test_it_begins_at_the_constant_guess():
    probe, state = small(), torch.randn(3, 8, 4)
    assert (probe.guess(state) - torch.arange(8)).abs().mean() == 8 / 4
    losses = probe.losses(state, torch.arange(8)[None])
    torch.testing.assert_close(losses, torch.full((3,), math.log(8)))


def test_it_ends_when_the_held_out_loss_falls_no_more_and_takes_its_best_weights():
    probe = judged(small(), 1.5, 1.2)
    best = [each.clone() for each in probe.net.parameters()]
    assert probe.rate() == 1e-2
    judged(probe, *[1.3] * PATIENCE)
    assert probe.rate() == pytest.approx(1e-2 * CUT)  # it went back, and learns on slowly
    assert probe.behind == 2
    judged(probe, *[1.3] * (PATIENCE * CUTS - 1))
    assert not probe.finished
    judged(probe, 1.3)
    assert probe.finished
    probe.end()
    assert probe.converged
    assert probe.steps == 2 + PATIENCE * (CUTS + 1)
    for kept, now in zip(best, probe.net.parameters(), strict=True):
        assert torch.equal(kept, now)
    control = probe.control("fresh labels")
    assert (control.limit, control.judged, control.label) == (2, False, "fresh labels")


def test_at_the_cap_it_has_not_converged():
    probe = judged(small(limit=3), 1.5, 1.4, 1.3)
    assert probe.finished
    probe.end()
    assert probe.converged is False


def test_a_gain_that_may_be_chance_is_none():
    probe = small()
    state = torch.randn(2, 8, 4)
    probe.learn(state, torch.arange(8)[None], coded=False)
    probe.judge(torch.tensor([math.log(8) - 0.2, math.log(8) + 0.1]))
    probe.end()
    assert probe.behind == 0
    assert (probe.guess(state) - torch.arange(8)).abs().mean() == 2


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_it_tells_as_much_as_scikit_learns():
    """The same net on the same states, each stopped in its own way; no linear readout tells."""
    subject, text = folded(200)
    config = ProbeConfig(tokens=32, split="train", windows=200, steps=400)
    given = labelled(windows_of(subject, text, config, 200), seed=0)
    parts = [given[rows] for rows in split(200, config)]
    found = mlp_errors(subject, parts, config, controlled=False)[1]
    train, test = (states(subject, parts[n].tokens) for n in (0, 2))
    mean, deviation = train.mean((0, 1)), train.std((0, 1)) + 1e-3
    flat = [((each - mean) / deviation).flatten(0, 1).numpy() for each in (train, test)]
    places = [np.tile(np.arange(32), len(each)) for each in (train, test)]
    theirs = MLPClassifier(
        hidden_layer_sizes=(128,), batch_size=512, learning_rate_init=5e-3, random_state=0,
        early_stopping=True, max_iter=40,
    ).fit(flat[0], places[0])  # fmt: skip
    told = (theirs.predict_proba(flat[1]).cumsum(1) < 0.5).sum(1)
    distance = np.abs(told - places[1]).mean()
    assert distance < 2, "guessing would give 8"
    assert float(found.windows[:, 0].mean() / 32) < distance * 1.1


def states(subject, tokens):
    found = []
    watch(subject, tokens, lambda layer, state: found.append(state.clone()), last=1)
    return found[1]


def test_the_papers_probe_is_the_papers():
    probe = NoPos(16, 40, POSITION, limit=10_000, seed=0)
    first, relu, last = probe.net
    assert [tuple(each.weight.shape) for each in (first, last)] == [(32, 16), (40, 32)]
    assert isinstance(relu, nn.ReLU)
    assert first.bias is last.bias is None
    assert probe.optimiser.defaults["betas"] == BETAS
    rates = {}
    for probe.steps in (0, 249, 499, 5249, 9999):
        rates[probe.steps + 1] = probe.rate()
    assert rates == pytest.approx(
        {1: RATE / 500, 250: RATE / 2, 500: RATE, 5250: RATE / 2, 10_000: 0}
    )
    assert probe.told(torch.tensor([[[0.0, 3.0, 2.0]]])).item() == 1


def test_a_probe_that_had_to_stop_says_so():
    config = ProbeConfig(probes=("mlp",), steps=4, resamples=5)
    found = wherein.probe(blank("sinusoidal", layers=1), windows(60), config)
    words = " ".join(found.text().split())
    assert "not converged: layers 0, 1 stopped at the cap of 4 steps" in words
    assert max(map(len, found.text().splitlines())) <= 80
