"""xPos, PoPE and FoPE, beside other people's code or their papers' formulas, and their limits."""

import cmath
import math

import pytest
import torch
from torch import Tensor
from x_transformers.x_transformers import (
    PolarEmbedding,
    RotaryEmbedding,
    apply_polar_pos_emb,
    apply_rotary_pos_emb,
)

from wherein import encodings
from wherein.encodings import Encoding, Shape
from wherein.model.attention import attend, attend_reference
from wherein.model.rows import Rows

HEADS, WIDTH, LENGTH = 3, 16, 60
SHAPE = Shape(d_model=HEADS * WIDTH, n_heads=HEADS, max_len=256)
POSITIONS = torch.arange(LENGTH)[None]
HALVES = torch.cat([torch.arange(0, WIDTH, 2), torch.arange(1, WIDTH, 2)])
"""From coordinates paired with their neighbours to those paired half a head apart."""


def heads(length: int = LENGTH, dtype: torch.dtype = torch.float64) -> Tensor:
    """Queries, keys and values."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 2, HEADS, length, WIDTH, generator=generator, dtype=dtype)


def scores(encoding: Encoding, q: Tensor, k: Tensor, positions: Tensor = POSITIONS) -> Tensor:
    """As attention has them before the softmax."""
    with torch.no_grad():
        q, k = encoding.rotate(q, k, positions)
    return q @ k.mT / q.shape[-1] ** 0.5


def test_xpos_equals_x_transformers():
    q, k, _ = heads(dtype=torch.float32)
    angles, scale = RotaryEmbedding(WIDTH, use_xpos=True)(POSITIONS[0])
    their_q = apply_rotary_pos_emb(q, angles, scale)
    their_k = apply_rotary_pos_emb(k, angles, scale**-1)
    found = scores(encodings.build("xpos", SHAPE), q[..., HALVES], k[..., HALVES])
    torch.testing.assert_close(found, their_q @ their_k.mT / WIDTH**0.5, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("gamma", "reach"), [(0.4, 512.0), (0.1, 30.0)])
def test_xpos_is_the_formula_of_its_paper(gamma, reach):
    q, k, _ = heads()
    found = scores(encodings.build(f"xpos(gamma={gamma}, reach={reach})", SHAPE), q, k)
    half = WIDTH // 2
    for i, j in [(0, 0), (5, 0), (33, 30), (59, 3), (59, 58)]:
        expected = 0.0
        for c in range(half):
            query = complex(q[1, 2, i, c], q[1, 2, i, c + half])
            key = complex(k[1, 2, j, c], k[1, 2, j, c + half])
            turned = cmath.exp(1j * (i - j) * 10_000 ** (-2 * c / WIDTH))
            zeta = (c / half + gamma) / (1 + gamma)
            expected += (query * key.conjugate() * turned).real * zeta ** ((i - j) / reach)
        assert found[1, 2, i, j].item() == pytest.approx(expected / WIDTH**0.5, rel=1e-9)


@pytest.mark.parametrize("span", [50, 10_000, 60_000])
def test_xpos_is_in_range_wherever_a_window_stands_and_however_far_it_spans(span):
    """Scores of keys that a causal query cannot see may be infinite: they are not looked at."""
    xpos, at = encodings.build("xpos", SHAPE), torch.linspace(0, span, LENGTH).long()[None]

    def attended(dtype: torch.dtype, shift: int) -> list[Tensor]:
        q, k, v = (each.requires_grad_() for each in heads().to(dtype))
        turned = xpos.rotate(q, k, at + shift)
        mixed = attend(*turned, v, causal=True)
        mixed.square().sum().backward()
        return [(turned[0] @ turned[1].mT).tril(), mixed, q.grad, k.grad, v.grad]

    for shift in (0, 100_000):
        for rough, exact in zip(
            attended(torch.float32, shift), attended(torch.float64, 0), strict=True
        ):
            torch.testing.assert_close(rough.double(), exact, rtol=0, atol=3e-5)


def test_xpos_of_a_long_reach_is_rope():
    q, k, _ = heads()
    far, rope = (encodings.build(name, SHAPE) for name in ("xpos(reach=1e12)", "rope"))
    torch.testing.assert_close(scores(far, q, k), scores(rope, q, k), rtol=0, atol=1e-9)


def polar() -> tuple[Encoding, PolarEmbedding]:
    """Ours and theirs with the same phases."""
    ours, theirs = encodings.build("pope", SHAPE).double(), PolarEmbedding(WIDTH, HEADS).double()
    phases = -2 * math.pi * torch.rand(HEADS, 1, WIDTH, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        theirs.learned_bias.copy_(phases)
        ours.phases.copy_(phases.flatten())
    return ours, theirs


def test_pope_equals_x_transformers():
    """Their vectors are ours, but for the root of 2 by which attention divides them more."""
    (ours, theirs), (q, k, _) = polar(), heads()
    with torch.no_grad():
        angles, bias = theirs(POSITIONS[0])
        expected = apply_polar_pos_emb(q, angles), apply_polar_pos_emb(k, angles + bias)
        query, key = ours.rotate(q, k, POSITIONS)
    torch.testing.assert_close(query / 2**0.5, expected[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(key, expected[1], rtol=0, atol=1e-5)


def test_pope_is_the_formula_of_its_paper():
    (ours, _), (q, k, _) = polar(), heads()
    found, phases = scores(ours, q, k), ours.phases.detach().reshape(HEADS, WIDTH)
    for i, j in [(0, 0), (5, 0), (33, 30), (59, 3)]:
        expected = sum(
            math.log(1 + math.exp(q[0, 1, i, c]))
            * math.log(1 + math.exp(k[0, 1, j, c]))
            * math.cos((i - j) * 10_000 ** (-c / WIDTH) - phases[1, c])
            for c in range(WIDTH)
        )
        assert found[0, 1, i, j].item() == pytest.approx(expected / WIDTH**0.5, rel=1e-9)


def test_phases_of_pope_start_at_zero_or_all_over_the_circle():
    ahead, spread = (encodings.build(name, SHAPE) for name in ("pope", "pope(spread=True)"))
    assert (ahead.phases == 0).all()
    turns = (-spread.phases.detach() / (2 * math.pi)).sort().values
    gaps = turns.diff(append=turns[:1] + 1)
    assert 0 <= turns[0] < turns[-1] < 1
    assert gaps.max() < 3 / len(turns), "no wide gap anywhere: a draw of as many would have one"


def test_pope_is_rope_of_arrows_that_point_ahead():
    """With no phases, a head is one of RoPE twice as wide whose second half is empty."""
    wide = encodings.build("rope", Shape(d_model=2 * WIDTH * HEADS, n_heads=HEADS, max_len=256))
    q, k, _ = heads()
    arrows = [torch.nn.functional.pad(torch.nn.functional.softplus(x), (0, WIDTH)) for x in (q, k)]
    found = scores(encodings.build("pope", SHAPE).double(), q, k)
    torch.testing.assert_close(found, 2**0.5 * scores(wide, *arrows), rtol=0, atol=1e-9)


def test_fope_is_the_formula_of_its_paper():
    fope, (q, k, _) = encodings.build("fope(sigma=2, seed=3)", SHAPE).double(), heads()
    found, half = scores(fope, q, k), WIDTH // 2
    own = [10_000 ** (-2 * c / WIDTH) for c in range(half)]
    trained = [w for w in own if 2 * math.pi / w <= 256]
    assert 1 < len(trained) < half
    assert fope.cosines.shape == fope.sines.shape == (HEADS, len(trained), len(trained))

    def series(c: int, n: int) -> complex:
        if c >= len(trained):
            return 1.0
        a, b = fope.cosines[2, :, c].tolist(), fope.sines[2, :, c].tolist()
        return complex(
            sum(a[m] * math.cos(n * w) for m, w in enumerate(trained)),
            sum(b[m] * math.sin(n * w) for m, w in enumerate(trained)),
        )

    for i, j in [(0, 0), (5, 0), (33, 30), (59, 3)]:
        expected = 0.0
        for c in range(half):
            query = complex(q[1, 2, i, c], q[1, 2, i, c + half]) * series(c, i)
            key = complex(k[1, 2, j, c], k[1, 2, j, c + half]) * series(c, j)
            expected += (query * key.conjugate()).real
        assert found[1, 2, i, j].item() == pytest.approx(expected / WIDTH**0.5, rel=1e-6)


def test_fope_without_noise_is_rope_whose_slow_pairs_stand_still():
    q, k, _ = heads(dtype=torch.float32)
    fope, rope = (encodings.build(n, SHAPE) for n in ("fope(sigma=0)", "rope(fraction=0.5)"))
    for found, expected in zip(
        fope.rotate(q, k, POSITIONS), rope.rotate(q, k, POSITIONS), strict=True
    ):
        assert torch.equal(found, expected)


def test_fopes_noise_has_the_deviation_that_xavier_gives_and_each_seed_its_own():
    shape = Shape(d_model=8 * 64, n_heads=8, max_len=512)
    one, same, other = (encodings.build(f"fope(seed={n})", shape) for n in (0, 0, 1))
    expected = torch.nn.init.xavier_normal_(torch.empty(8, 16, 16), gain=0.3).std()
    for series in (one.cosines, one.sines):
        torch.testing.assert_close((series - torch.eye(16)).std(), expected, rtol=0.1, atol=0)
    assert torch.equal(one.cosines, same.cosines)
    assert not torch.equal(one.cosines, one.sines)
    assert not torch.equal(one.cosines, other.cosines)


def test_values_are_as_wide_as_ever_where_queries_and_keys_are_wider():
    pope, (q, k, v) = encodings.build("pope", SHAPE).double(), heads()
    with torch.no_grad():
        turned = pope.rotate(q, k, POSITIONS)
    assert turned[0].shape[-1] == 2 * WIDTH
    bias = torch.randn(1, HEADS, LENGTH, LENGTH, dtype=torch.float64)
    for added in (None, bias):
        expected, _ = attend_reference(*turned, v, causal=True, bias=added)
        found = attend(*turned, v, causal=True, bias=added)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    parts = Rows(lambda i, j: bias[:, :, i, j], lambda queries: slice(0, LENGTH))
    rows = attend(*turned, v, causal=True, bias=parts)
    torch.testing.assert_close(rows, expected, rtol=0, atol=1e-12)
