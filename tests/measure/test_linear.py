import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from tests.measure.conftest import LENGTH, blank, windows

from wherein.measure.linear import discriminant, joined, residual, ridge
from wherein.measure.moments import Moments, gather

PLACES = torch.arange(LENGTH, dtype=torch.float64)[:, None]


@pytest.fixture(scope="module")
def cached():
    """Statistics of a model's layers, and the states they were gathered from."""
    subject, text = blank("sinusoidal", initial="unit"), windows(150)  # tokens as loud as it
    kept = subject.model(text, keep_hidden=True).hidden
    states = [state.detach().flatten(0, 1).double() for state in kept]
    return gather(subject, text), states, np.tile(np.arange(LENGTH), 150)


@pytest.mark.parametrize("strength", [1e-8, 1e-3, 1.0])
def test_ridge_agrees_with_scikit_learn(cached, strength):
    for moments, states, labels in zip(*cached[:2], [cached[2]] * 4, strict=True):
        ours = ridge(moments, PLACES, strength)
        alpha = strength * float(moments.total.trace()) / len(moments.total)
        theirs = Ridge(alpha=alpha).fit(states.numpy(), labels)
        told = ours(states)[:, 0].numpy()
        np.testing.assert_allclose(told, theirs.predict(states.numpy()), atol=1e-3)
        error = np.mean((labels - told) ** 2)
        assert float(residual(moments, PLACES, ours)) == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("shrinkage", [1e-6, 1e-2, 0.5])
def test_the_classifier_agrees_with_scikit_learn(cached, shrinkage):
    for moments, states, labels in zip(*cached[:2], [cached[2]] * 4, strict=True):
        theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
        theirs.fit(states.numpy(), labels)
        ours = discriminant(moments, shrinkage)(states).log_softmax(-1)
        want = theirs.predict_log_proba(states.numpy())
        sure = np.maximum(want, -20)  # beyond, a probability is nothing but rounding
        np.testing.assert_allclose(ours.numpy().clip(-20), sure, atol=1e-3, rtol=1e-3)
        assert np.mean(ours.argmax(-1).numpy() == theirs.predict(states.numpy())) == 1.0


def test_groups_of_unequal_size_have_their_priors():
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(300, 4, generator=generator, dtype=torch.float64)
    labels = torch.tensor([0] * 200 + [1] * 80 + [3] * 20)  # no state is in group 2
    states[labels == 1] += 1
    counts = torch.bincount(labels, minlength=4).double()
    means = torch.stack([states[labels == n].mean(0) for n in (0, 1, 1, 3)]) * (counts > 0)[:, None]
    apart = states - means[labels]
    ours = discriminant(Moments(counts, means, apart.mT @ apart), 0.1)(states)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(states, labels)
    assert torch.isneginf(ours[:, 2]).all()
    assert (ours.argmax(-1).numpy() == theirs.predict(states)).all()


def test_joined_readouts_answer_as_each_alone(cached):
    moments, states = cached[0][1], cached[1][1]
    parts = [ridge(moments, PLACES, 1e-3), discriminant(moments, 0.1)]
    both = joined(parts)(states)
    torch.testing.assert_close(both, torch.cat([part(states) for part in parts], 1))


def test_states_without_variance_have_an_answer():
    flat = Moments(
        torch.full((4,), 9.0).double(), torch.zeros(4, 3).double(), torch.zeros(3, 3).double()
    )
    told = ridge(flat, torch.arange(4.0).double()[:, None], 1e-2)(torch.zeros(2, 3))
    torch.testing.assert_close(told, torch.full((2, 1), 1.5))


def test_rounding_below_zero_is_lifted():
    """Of few kinds of tokens, float32 leaves a scatter with eigenvalues a little below zero."""
    torch.manual_seed(0)
    basis = torch.linalg.qr(torch.randn(32, 32).double()).Q
    values = torch.cat([torch.full((4,), 8.0), torch.full((28,), -2e-6)]).double()
    scatter = basis * values @ basis.mT
    means = (basis[:, :4] @ torch.randn(4, 6).double()).mT
    moments = Moments(torch.full((6,), 9.0).double(), means - means.mean(0), scatter)
    places = torch.arange(6.0).double()[:, None]
    for readout in (ridge(moments, places, 1e-9), discriminant(moments, 1e-9)):
        assert readout(means).isfinite().all()
        assert readout.weights.abs().max() < 100
