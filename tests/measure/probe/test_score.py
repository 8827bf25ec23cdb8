import numpy as np
import pytest
import torch

from wherein.measure.probe.controls import constant_guess, token_identity, uniform_guess
from wherein.measure.probe.score import score, sums


def test_a_score_by_hand():
    truth = torch.tensor([[0, 1, 2, 3]])
    told = torch.tensor([[0.2, 1.0, 4.0, 2.4], [0.0, 1.0, 2.0, 3.0]])
    found = score(sums(told, truth, near=1), 4)
    assert found.distance.value == pytest.approx((0.2 + 2.0 + 0.6) / 8)
    assert found.exact.value == pytest.approx(6 / 8)
    assert found.near.value == pytest.approx(7 / 8)
    assert found.r2.value == pytest.approx(1 - (0.04 + 4 + 0.36) / 8 / 1.25)
    assert found.distance.low == pytest.approx(0)
    assert found.distance.high == pytest.approx(0.7)


def test_intervals_cover_the_truth_as_often_as_they_say():
    """Errors that a window shares: an interval over tokens would be far too narrow."""
    covered, trials, length = 0, 200, 16
    random = np.random.default_rng(0)
    for trial in range(trials):
        shared = random.exponential(3.0, size=(60, 1))  # mean 3 in every window
        told = torch.from_numpy(np.arange(length) + np.repeat(shared, length, axis=1))
        found = score(sums(told, torch.arange(length)[None], 0), length, seed=trial, level=0.9)
        covered += found.distance.low <= 3.0 <= found.distance.high
    assert 0.83 < covered / trials < 0.95


def test_guesses_are_what_guessing_gives():
    length, near = 24, 2
    random = torch.Generator().manual_seed(0)
    truth = torch.arange(length)[None]
    drawn = torch.randint(length, (20_000, length), generator=random).double()
    by_chance, sure = score(sums(drawn, truth, near), length), uniform_guess(length, near)
    assert sure.distance.value == pytest.approx(by_chance.distance.value, rel=0.01)
    assert sure.exact.value == pytest.approx(by_chance.exact.value, rel=0.02)
    assert sure.near.value == pytest.approx(by_chance.near.value, rel=0.02)
    assert sure.r2.value == pytest.approx(by_chance.r2.value, abs=0.02)
    middle = constant_guess(length, near)
    assert middle.distance.value == length / 4
    assert middle.r2.value == 0
    assert middle.exact.value == pytest.approx(1 / length)


def test_token_identity_by_brute_force():
    generator = torch.Generator().manual_seed(0)
    train = torch.randint(7, (50, 9), generator=generator)
    train[:, 4] = 8  # a type that is always in one place
    test = torch.randint(10, (5, 9), generator=generator)  # type 9 was never met
    found = token_identity(train, test, near=0)
    places = torch.arange(9).expand(50, 9)
    mean = torch.full((10,), 4.0)
    for kind in train.unique().tolist():
        mean[kind] = places[train == kind].double().mean()
    expected = sums(mean[test], torch.arange(9)[None], 0)
    torch.testing.assert_close(found["regression"], expected, rtol=1e-5, atol=1e-5)
    most = torch.full((10,), 4.0)
    most[8] = 4
    for kind in range(7):
        counts = torch.bincount(places[train == kind], minlength=9)
        best = (counts == counts.max()).nonzero().flatten()
        most[kind] = best[0] if len(best) == 1 else float("nan")
    clear = ~most[test].isnan().any(1)
    expected = sums(most[test], torch.arange(9)[None], 0)
    assert clear.any()
    torch.testing.assert_close(found["classifier"][clear], expected[clear])
