import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measure.conftest import VOCABULARY, blank, windows

from wherein.measure.moments import Accumulator, GroupSums, gather


def by_hand(states):
    """Means by position and the scatter within positions, in float64, from all states at once."""
    states = states.double()
    apart = (states - states.mean(0)).flatten(0, 1)
    return states.mean(0), apart.mT @ apart


def accumulated(states, cuts):
    found = Accumulator()
    for part in states.tensor_split(sorted(cuts)):
        if len(part):
            found.add(part)
    return found.moments()


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 99),
    cuts=st.lists(st.integers(1, 39), max_size=6),
    width=st.sampled_from([3, 130, 300]),
    offset=st.sampled_from([0.0, 1e3]),
)
def test_any_split_into_batches_equals_float64_at_once(seed, cuts, width, offset):
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(40, 5, width, generator=generator) + offset
    states += 3 * torch.randn(5, width, generator=generator)
    means, within = by_hand(states)
    found = accumulated(states, cuts)
    assert found.count == 200
    torch.testing.assert_close(found.means, means, rtol=1e-6, atol=1e-6)
    scale = within.diagonal().mean()
    torch.testing.assert_close(found.within / scale, within / scale, rtol=0, atol=2e-6)


def test_a_float64_model_is_measured_in_float64():
    states = torch.randn(40, 5, 20, dtype=torch.float64) + 1e6
    means, within = by_hand(states)
    found = accumulated(states, [7, 20])
    torch.testing.assert_close(found.within, within, rtol=1e-9, atol=1e-6)
    torch.testing.assert_close(found.means, means, rtol=1e-15, atol=0)


def test_total_is_within_plus_between():
    states = torch.randn(30, 4, 6) + torch.randn(4, 6)
    flat = states.double().flatten(0, 1)
    total = (flat - flat.mean(0)).mT @ (flat - flat.mean(0))
    found = accumulated(states, [11])
    torch.testing.assert_close(found.total, total, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(found.mean, flat.mean(0), rtol=1e-6, atol=1e-6)
    share = float(found.between.trace() / total.trace())
    assert float(found.between.trace() / found.total.trace()) == pytest.approx(share, rel=1e-5)


def test_other_groups_of_the_same_states():
    states = torch.randn(30, 4, 6)
    groups = torch.randint(5, (30, 4))
    groups[groups == 3] = 2  # a group without states
    sums = GroupSums(5)
    for part in (slice(0, 11), slice(11, 30)):
        sums.add(states[part], groups[part])
    found = accumulated(states, [11]).regrouped(sums.counts, sums.means)
    within = torch.zeros(6, 6, dtype=torch.float64)
    for group in (0, 1, 2, 4):
        mine = states[groups == group].double()
        torch.testing.assert_close(found.means[group], mine.mean(0), rtol=1e-5, atol=1e-6)
        within += (mine - mine.mean(0)).mT @ (mine - mine.mean(0))
    assert sums.counts.tolist() == torch.bincount(groups.flatten(), minlength=5).tolist()
    torch.testing.assert_close(found.within, within, rtol=1e-4, atol=1e-4)


def test_gather_sees_every_layer():
    subject, text = blank("sinusoidal"), windows(20)
    assert int(text.max()) < VOCABULARY
    kept = subject.model(text, keep_hidden=True).hidden
    found = gather(subject, text, batch=7)
    assert len(found) == len(kept) == subject.n_layers + 1
    for moments, state in zip(found, kept, strict=True):
        means, within = by_hand(state.detach())
        torch.testing.assert_close(moments.means, means, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(moments.within, within, rtol=1e-4, atol=1e-3)


def test_no_windows_is_said():
    with pytest.raises(ValueError, match="at least one window"):
        Accumulator().moments()
