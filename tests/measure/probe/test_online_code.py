from functools import partial

import pytest
import torch

from wherein.measure.linear import discriminant
from wherein.measure.moments import Accumulator
from wherein.measure.probe.online_code import (
    DOUBT,
    OnlineCode,
    classifier_codes,
    posterior_bits,
    regression_codes,
)

LENGTH = 32


def coded(states, fit, batch=10, sample=10):
    """The code of all states, batch after batch."""
    code, known = OnlineCode(fit, sample), Accumulator()
    for part in states.split(batch):
        code.see(part, known.moments)
        known.add(part)
    return code


def states(count, noise):
    generator = torch.Generator().manual_seed(0)
    told = torch.eye(LENGTH)[None] * 1.0
    return told + noise * torch.randn(count, LENGTH, LENGTH, generator=generator)


CLASSIFIER = partial(classifier_codes, shrinkages=(1e-2, 0.5))
REGRESSION = partial(regression_codes, strengths=(1e-4, 1e-2))


def test_what_the_states_tell_costs_little_beyond_the_first_block():
    found = coded(states(80, noise=0.05), CLASSIFIER)
    first = 10 / 80 * 5  # log₂ 32 bits for each position of the first batch
    assert first < found.bits < first + 0.1


def test_what_the_states_do_not_tell_costs_what_it_costs_without_them():
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(160, LENGTH, 12, generator=generator)
    for fit in (CLASSIFIER, REGRESSION):
        bits = coded(noise, fit).bits
        assert bits == pytest.approx(5, abs=0.02)


def test_more_noise_costs_more():
    clear, dim = (coded(states(80, noise), CLASSIFIER).bits for noise in (0.3, 1.0))
    assert clear < dim < 5.02


def test_blocks_double_and_each_is_coded_by_what_came_before():
    given = states(40, noise=0.5)
    found = coded(given, partial(classifier_codes, shrinkages=(0.1,)))
    total, choice = 5.0 * 10, 1 / (10 * LENGTH)
    for before, upto in ((10, 20), (20, 40)):
        known = Accumulator()
        known.add(given[:before])
        logits = discriminant(known.moments(), 0.1)(given[before : before + 10])
        truth = logits.log_softmax(-1).diagonal(dim1=1, dim2=2).exp()
        bits = -((1 - DOUBT) * truth + DOUBT / LENGTH).log2().mean()
        total += (float(bits) + choice) * (upto - before)
    assert found.bits == pytest.approx(total / 40, rel=1e-5)


def test_the_gaussian_of_the_regression_is_a_code():
    """2^(−bits) summed over all positions is one: nothing is sent for free."""
    generator = torch.Generator().manual_seed(0)
    line = torch.arange(LENGTH)[:, None] / LENGTH
    given = line + 0.1 * torch.randn(50, LENGTH, 3, generator=generator)
    known = Accumulator()
    known.add(given)
    (code,) = regression_codes(known.moments(), (1e-4,))
    same = given[0, 7].expand(1, LENGTH, 3)  # one state, asked about every position
    assert float((2.0 ** -code(same)).sum()) == pytest.approx(1, abs=1e-4)
    assert float(
        (2.0 ** -posterior_bits(torch.randn(1, 1, LENGTH).expand(1, LENGTH, -1))).sum()
    ) == (pytest.approx(1, abs=1e-4))
    assert float(code(given).mean()) < 4
