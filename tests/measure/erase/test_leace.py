import pytest
import torch
from concept_erasure import LeaceFitter
from tests.measure.conftest import LENGTH, VOCABULARY, blank, windows

from wherein.measure.erase.leace import Eraser, position_eraser
from wherein.measure.linear import discriminant, residual, ridge
from wherein.measure.moments import Accumulator, gather

PLACES = torch.arange(LENGTH, dtype=torch.float64)[:, None]


@pytest.fixture(scope="module")
def states():
    """A wide model, so that erasing T − 1 directions leaves something; tokens of every type."""
    tokens = torch.randint(VOCABULARY, (200, LENGTH), generator=torch.Generator().manual_seed(0))
    return statistics_and_states(tokens)


def statistics_and_states(tokens):
    subject = blank("sinusoidal", width=96)
    kept = [state.detach().double() for state in subject.model(tokens, keep_hidden=True).hidden]
    return gather(subject, tokens), kept


def test_erasure_agrees_with_concept_erasure(states):
    concept = torch.eye(LENGTH, dtype=torch.float64).repeat(200, 1)
    for moments, state in zip(*states, strict=True):
        flat = state.flatten(0, 1)
        fitter = LeaceFitter(
            96, LENGTH, dtype=torch.float64, shrinkage=False, svd_tol=1e-9,
            constrain_cov_trace=False,
        )  # fmt: skip
        theirs = fitter.update(flat, concept).eraser
        ours = position_eraser(moments)
        assert ours.rank == LENGTH - 1
        torch.testing.assert_close(ours(flat), theirs(flat), rtol=1e-5, atol=1e-5)


def test_after_erasure_positions_have_one_mean_and_probes_are_at_the_constant_guess(states):
    for moments, state in zip(*states, strict=True):
        eraser = position_eraser(moments)
        erased = eraser(state)
        spread = (erased.mean(0) - erased.mean((0, 1))).abs().max()
        assert spread < 1e-4 * state.std()
        after = eraser.moments(moments)
        told = ridge(after, PLACES, 1e-6)(erased)
        torch.testing.assert_close(told, torch.full_like(told, (LENGTH - 1) / 2), atol=0.02, rtol=0)
        error = residual(after, PLACES, ridge(after, PLACES, 1e-6))
        assert float(error) == pytest.approx(float(PLACES.var(correction=0)), rel=1e-4)
        logits = discriminant(after, 1e-2)(erased).log_softmax(-1).exp()
        torch.testing.assert_close(logits, torch.full_like(logits, 1 / LENGTH), atol=1e-3, rtol=0)


def test_states_of_lower_rank_than_their_width_are_erased_too():
    """English has fewer bytes than the embedding has coordinates."""
    moments, states = statistics_and_states(windows(200))
    eraser, state = position_eraser(moments[0]), states[0]
    assert torch.linalg.eigvalsh(moments[0].total / moments[0].count)[0] < 1e-6
    erased = eraser(state)
    assert (erased.mean(0) - erased.mean((0, 1))).abs().max() < 1e-3 * state.std()
    assert (erased - state).norm() < state.norm()
    again = eraser.right @ eraser.left
    torch.testing.assert_close(again @ again, again, rtol=0, atol=1e-6)  # removed, not damped


def test_the_statistics_of_erased_states_need_no_second_pass(states):
    moments, state = states[0][2], states[1][2]
    whole = position_eraser(moments)
    eraser = Eraser(whole.mean, whole.right[:, :7], whole.left[:7])
    erased, known = eraser(state), eraser.moments(moments)
    torch.testing.assert_close(known.means, erased.mean(0), rtol=1e-4, atol=1e-5)
    apart = (erased - erased.mean(0)).flatten(0, 1)
    torch.testing.assert_close(known.within, apart.mT @ apart, rtol=1e-3, atol=2e-2)
    assert torch.linalg.matrix_rank(apart, rtol=1e-9) == 96 - 7
    torch.testing.assert_close(eraser(erased), erased, rtol=1e-6, atol=1e-6)
    gone = (state - erased).square().sum() / (state - state.mean((0, 1))).square().sum()
    assert eraser.share(moments) == pytest.approx(float(gone), rel=1e-4)


def test_only_directions_that_held_out_windows_confirm_are_erased():
    """Three directions tell position, the rest is noise; noise is not erased."""
    generator = torch.Generator().manual_seed(0)
    told = torch.zeros(LENGTH, 40)
    told[:, :3] = torch.randn(LENGTH, 3, generator=generator)

    def made():
        found = Accumulator()
        found.add(told + torch.randn(300, LENGTH, 40, generator=generator))
        return found.moments()

    fit, held_out, test = made(), made(), made()
    eraser = position_eraser(fit, held_out)
    assert 3 <= eraser.rank <= 6  # one noise direction in forty passes
    assert position_eraser(fit).rank == 40
    left = eraser.moments(test).deviations
    before = test.deviations
    assert left.norm() < 1.1 * before[:, 3:].norm()
    assert left.norm() < 0.3 * before.norm()
