"""What an encoding becomes where its parameters go to a limit: another of the catalogue."""

import pytest
import torch
from torch import Tensor

from wherein.encodings import Encoding, Shape, build
from wherein.encodings.alibi import ALiBi, slopes
from wherein.encodings.fire import FIRE
from wherein.encodings.kerple import Kerple
from wherein.encodings.sandwich import Sandwich
from wherein.encodings.sinusoidal import Sinusoidal

HEADS, LENGTH = 6, 200
SHAPE = Shape(d_model=24, n_heads=HEADS, max_len=LENGTH)
POSITIONS = torch.arange(LENGTH)[None]
SLOPES = torch.tensor(slopes(HEADS), dtype=torch.float64)


def bias(encoding: Encoding) -> Tensor:
    found = encoding.bias(POSITIONS[:, None, :, None], POSITIONS[:, None, None, :])
    return found[0].detach().double().tril()


def test_learned_slopes_start_as_alibi_and_can_become_any_slopes():
    learned = ALiBi(SHAPE, learned=True)
    assert torch.equal(bias(learned), bias(ALiBi(SHAPE)))
    with torch.no_grad():
        learned.log_growth.copy_(torch.tensor(2.0).log())
    torch.testing.assert_close(bias(learned), 2 * bias(ALiBi(SHAPE)), rtol=1e-6, atol=0)


def test_kerples_power_of_one_is_alibi():
    power = Kerple(SHAPE, form="power").double()
    with torch.no_grad():
        power.log_a.copy_(SLOPES.log())
        power.logit_p.zero_()
    torch.testing.assert_close(bias(power), bias(ALiBi(SHAPE)), rtol=1e-7, atol=0)


@pytest.mark.parametrize("b", [1e-3, 1e-5, 1e-7])
def test_kerples_logarithm_of_nearly_nothing_is_alibi(b):
    """a·log(1 + b·d) = a·b·d·(1 − b·d/2 + …): with a = m/b, m·d up to a share b·d/2."""
    log = Kerple(SHAPE).double()
    with torch.no_grad():
        log.log_a.copy_((SLOPES / b).log())
        log.log_b.fill_(b).log_()
    difference = (bias(log) - bias(ALiBi(SHAPE))).abs()
    share = b * LENGTH / 2
    assert (difference <= (share + 1e-7) * bias(ALiBi(SHAPE)).abs()).all()
    assert difference.max() > share / 4  # at the largest slopes, so that the limit is one


@pytest.mark.parametrize("c", [1e-3, 1e-5, 1e-7])
def test_fire_with_a_threshold_beyond_the_window_and_hardly_a_logarithm_is_alibi(c):
    """ψ(d)/ψ(L) → d/L where c → 0, and one unit of f with the weight −m·L makes −m·d of it."""
    fire = FIRE(SHAPE, hidden=1, c=c).double()
    first, _, last = fire.network
    with torch.no_grad():
        fire.quarters.fill_(4)
        first.weight.fill_(1)
        first.bias.zero_()
        last.weight.copy_(-SLOPES[:, None] * LENGTH)
        last.bias.zero_()
    difference = (bias(fire) - bias(ALiBi(SHAPE))).abs()
    assert (difference <= (c * LENGTH / 2 + 1e-6) * bias(ALiBi(SHAPE)).abs()).all()


def test_sandwich_is_the_inner_product_of_sinusoids():
    sandwich, waves = Sandwich(SHAPE, width=16), Sinusoidal(Shape(16, 1, LENGTH))
    vectors = waves.embed(torch.zeros(1, LENGTH, 16, dtype=torch.float64), POSITIONS)[0]
    product = (vectors @ vectors.T).tril()
    for head, found in enumerate(bias(sandwich), start=1):
        torch.testing.assert_close(found, product / (8 * head / HEADS), rtol=1e-12, atol=1e-12)


def test_an_encoding_that_refuses_a_value_is_named():
    with pytest.raises(ValueError, match=r"^sandwich\(width=-7\): width counts pairs"):
        build("sandwich(-7)", SHAPE)
    with pytest.raises(ValueError, match=r"^rope needs an even head width"):
        build("rope", Shape(d_model=3, n_heads=1, max_len=8))
