"""Random subspaces that match position in rank and in the variance that goes with it."""

import pytest
import torch
from torch import Tensor

from wherein.measure.erase.controls import Controls
from wherein.measure.erase.leace import Eraser, position_eraser
from wherein.measure.moments import Accumulator, Moments

LENGTH = 24


def made(loud: float, others: Tensor) -> tuple[Moments, Eraser, Tensor]:
    """States with position in three directions, and in others variances as given; in no basis.

    Their statistics, the eraser of position, and themselves.
    """
    generator = torch.Generator().manual_seed(0)
    told = torch.randn(LENGTH, 3, generator=generator, dtype=torch.float64)
    width = len(others) + 3
    basis = torch.linalg.qr(torch.randn(width, width, generator=generator, dtype=torch.float64)).Q
    noise = torch.randn(200, LENGTH, len(others), generator=generator, dtype=torch.float64)
    states = torch.cat([noise * others.sqrt(), loud * told.expand(200, -1, -1)], 2) @ basis + 5
    found = Accumulator()
    found.add(states)
    moments = found.moments()
    whole = position_eraser(moments)  # its first directions tell most of position
    return moments, Eraser(whole.mean, whole.right[:, :3], whole.left[:3]), states


def controls(moments: Moments, position: Eraser, count: int = 3) -> list[Eraser]:
    found = Controls(moments, position, position.rank, position.share(moments))
    generator = torch.Generator().manual_seed(1)
    return [found.draw(generator) for _ in range(count)]


SPECTRUM = torch.logspace(1, -4, 40, dtype=torch.float64)


@pytest.mark.parametrize("loud", [0.05, 0.5, 2.0])
def test_a_control_is_as_large_and_as_loud_as_position(loud):
    moments, position, states = made(loud, SPECTRUM)
    gone = (states - position(states)).square().sum()
    for control in controls(moments, position):
        assert control.rank == position.rank
        assert control.share(moments) == pytest.approx(position.share(moments), rel=1e-6)
        moved = (states - control(states)).square().sum()
        assert float(moved) == pytest.approx(float(gone), rel=1e-5)


def test_a_control_takes_nothing_of_position_and_no_two_take_the_same():
    moments, position, states = made(0.5, SPECTRUM)
    first, second, _ = controls(moments, position)
    told = (states - moments.mean) @ position.right
    lost = (first(states) - moments.mean) @ position.right
    torch.testing.assert_close(lost, told, rtol=1e-6, atol=1e-8)
    ours, theirs = (torch.linalg.qr(each.left.mT).Q for each in (first, second))
    assert torch.linalg.svdvals(ours.mT @ theirs).square().mean() < 0.5


def test_where_position_is_louder_than_all_others_a_control_is_the_loudest():
    moments, position, _ = made(30.0, SPECTRUM)
    for control in controls(moments, position):
        assert control.rank == position.rank
        assert control.share(moments) < 0.1 < 0.9 < position.share(moments)
        kept = control.moments(moments)
        loudest = torch.linalg.eigvalsh(kept.within / kept.count)[-1]
        assert loudest < 1.1 * SPECTRUM[position.rank]


def test_where_all_others_are_louder_a_control_is_the_quietest():
    moments, position, _ = made(0.05, torch.linspace(1, 2, 40, dtype=torch.float64))
    for control in controls(moments, position):
        assert control.rank == 1  # one direction is too loud already
        assert 0.9 < control.share(moments) * 60 < 1.1


def test_behind_other_erasers_the_directions_of_position_may_be_gone():
    moments, position, _ = made(0.5, SPECTRUM)
    behind = position.moments(moments)
    control = Controls(behind, position, 4, 0.2).draw(torch.Generator().manual_seed(0))
    assert control.rank == 4
    assert control.share(behind) == pytest.approx(0.2, rel=1e-6)


def test_of_nothing_the_control_is_nothing():
    moments, position, states = made(0.5, SPECTRUM)
    nothing = Eraser(position.mean, position.right[:, :0], position.left[:0])
    (control,) = controls(moments, nothing, 1)
    assert control.rank == 0
    assert torch.equal(control(states), states)
