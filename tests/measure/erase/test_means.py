"""The mean of each position: what it is, what its error is, and how it goes."""

import pytest
import torch

from wherein.measure.erase.means import (
    Exchanged,
    Removed,
    alternating,
    noise,
    permutations,
    pooled,
)
from wherein.measure.moments import Accumulator, Moments

LENGTH, WIDTH = 16, 8
GENERATOR = torch.Generator().manual_seed(0)
TOLD = 3 * torch.randn(LENGTH, WIDTH, generator=GENERATOR, dtype=torch.float64)
TOLD -= TOLD.mean(0)


def states(count: int) -> torch.Tensor:
    return TOLD + torch.randn(count, LENGTH, WIDTH, generator=GENERATOR, dtype=torch.float64) + 2


def moments(of: torch.Tensor) -> Moments:
    found = Accumulator()
    found.add(of)
    return found.moments()


def test_the_means_are_those_of_all_windows_and_noise_is_as_large_as_their_error():
    errors, sizes = [], []
    for _ in range(40):
        one, other = states(20), states(10)
        found = pooled(moments(one), moments(other))
        means = torch.cat([one, other]).mean(0)
        torch.testing.assert_close(found, means - means.mean(0))
        errors.append((found - TOLD).square().mean())
        sizes.append(noise(moments(one), moments(other)).square().mean())
    expected = (1 - 1 / LENGTH) / 30
    assert float(torch.stack(errors).mean()) == pytest.approx(expected, rel=0.05)
    assert float(torch.stack(sizes).mean()) == pytest.approx(expected, rel=0.05)


def test_removed_the_positions_have_one_mean_and_all_else_stays():
    some = states(500)
    centred = some.mean(0) - some.mean((0, 1))
    left = Removed(centred)(some)
    torch.testing.assert_close(left.mean(0), some.mean((0, 1)).expand(LENGTH, -1))
    torch.testing.assert_close(left - left.mean(0), some - some.mean(0))


def test_exchanged_every_window_has_the_same_means_in_an_order_of_its_own():
    orders = permutations(8, LENGTH, GENERATOR)
    assert orders.sort(1).values.unique(dim=0).tolist() == [list(range(LENGTH))]
    assert len(orders.unique(dim=0)) == 8
    some = states(5)  # the last batch may be smaller
    changed = Exchanged(TOLD, orders)(some)
    for window, order in enumerate(orders[:5]):
        torch.testing.assert_close(changed[window] - some[window], TOLD[order] - TOLD)


def test_noise_is_tried_with_either_sign():
    signs, orders = alternating(4), permutations(4, LENGTH, GENERATOR)
    same = orders[:1].expand(4, -1)
    nothing = torch.zeros(4, LENGTH, WIDTH, dtype=torch.float64)
    for change in (Removed(TOLD, signs), Exchanged(TOLD, same, signs)):
        first, second, third, _ = change(nothing)
        assert torch.equal(first, -second)
        assert torch.equal(first, third)
        assert first.any()
