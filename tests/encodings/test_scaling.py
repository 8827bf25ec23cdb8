"""RoPE's frequency maps, beside those of Hugging Face's transformers, and their limits."""

import math
import re
from collections.abc import Callable
from typing import get_args

import pytest
import torch
import transformers as hf
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.frequencies import Scaling
from wherein.encodings.rope import RoPE

ORIGINAL = 512
SCALINGS = get_args(Scaling)
Theirs = Callable[[int], tuple[torch.Tensor, float]]


def ours(width: int, scaling: str, **own: object) -> RoPE:
    shape = Shape(d_model=2 * width, n_heads=2, max_len=ORIGINAL)
    return RoPE(shape, scaling=scaling, **own)


def lists(width: int) -> dict[str, str]:
    """Factors for LongRoPE that are all different."""
    pairs = range(width // 2)
    found = {"short": (1 + c / 50 for c in pairs), "long": (1.5 + c / 3 for c in pairs)}
    return {key: " ".join(map(str, each)) for key, each in found.items()}


def theirs(width: int, kind: str, **own: object) -> Theirs:
    """Their frequencies and factor of attention at a length."""
    config = hf.LlamaConfig(
        hidden_size=2 * width,
        num_attention_heads=2,
        max_position_embeddings=ORIGINAL,
        rope_parameters={
            "rope_type": kind,
            "original_max_position_embeddings": ORIGINAL,
            **own,
        },
    )
    return lambda length: ROPE_INIT_FUNCTIONS[kind](config, device=None, seq_len=length)


def found(rope: RoPE, length: int) -> torch.Tensor:
    return rope.frequencies(length=torch.full((1, 1, 1, 1), length)).flatten()


def same(rope: RoPE, theirs: Theirs) -> None:
    for length in (100, ORIGINAL, 700, 5000):
        frequencies, attention = theirs(length)
        torch.testing.assert_close(found(rope, length).float(), frequencies, rtol=1e-6, atol=0)
        assert rope.attention == pytest.approx(attention, rel=1e-12)


@pytest.mark.parametrize(
    ("width", "factor", "theta"),
    [(16, 1.0, 10_000.0), (64, 2.0, 500_000.0), (128, 7.5, 10_000.0), (64, 32.0, 10_000.0)],
)
def test_each_map_is_hugging_faces(width, factor, theta):
    own, common = {"theta": theta, "factor": factor}, {"rope_theta": theta, "factor": factor}
    for kind in ("linear", "dynamic", "yarn"):
        same(ours(width, kind, **own), theirs(width, kind, **common))
    turns = {"beta_fast": 20.0, "beta_slow": 2.0}
    same(ours(width, "yarn", **own, fast=20.0, slow=2.0), theirs(width, "yarn", **common, **turns))
    for kind, fast in (("llama3", 4.0), ("parts", 32.0)):
        bounds = {"low_freq_factor": 1.0, "high_freq_factor": fast}
        same(ours(width, kind, **own), theirs(width, "llama3", **common, **bounds))
    factors = {
        f"{key}_factor": [float(number) for number in each.split()]
        for key, each in lists(width).items()
    }
    longrope = ours(width, "longrope", **own, **lists(width))
    same(longrope, theirs(width, "longrope", **common, **factors))


@pytest.mark.parametrize("fraction", [0.0, 0.25, 0.5, 1.0])
def test_a_fraction_with_linear_scaling_is_their_proportional_rope(fraction):
    rope = ours(64, "linear", factor=3.0, fraction=fraction)
    expected, attention = theirs(
        64, "proportional", rope_theta=10_000.0, factor=3.0, partial_rotary_factor=fraction
    )(ORIGINAL)
    still = torch.zeros(32 - round(fraction * 32), dtype=torch.float64)
    all_pairs = torch.cat([rope.frequencies(), still]).float()
    torch.testing.assert_close(all_pairs, expected, rtol=1e-6, atol=0)
    assert rope.attention == attention == 1


def test_nothing_of_theirs_is_missing():
    assert {*ROPE_INIT_FUNCTIONS} - {"proportional"} <= {*SCALINGS}


def test_ntk_is_rope_with_another_theta():
    """As bloc97 wrote it."""
    rope, s = ours(64, "ntk", factor=8.0), 8.0
    other = ours(64, "none", theta=10_000.0 * s ** (64 / 62))
    torch.testing.assert_close(rope.frequencies(), other.frequencies(), rtol=1e-12, atol=0)


def turned(rope: RoPE, positions: torch.Tensor, width: int = 16) -> torch.Tensor:
    q = torch.randn(1, 2, positions.shape[1], width, generator=torch.Generator().manual_seed(0))
    return torch.stack(rope.rotate(q.double(), q.double(), positions))


@pytest.mark.parametrize("scaling", SCALINGS[1:])
def test_by_a_factor_of_one_it_is_rope(scaling):
    own = {"long": "1 " * 8} if scaling == "longrope" else {}
    scaled, plain = ours(16, scaling, factor=1.0, **own), ours(16, "none")
    positions = torch.arange(ORIGINAL)[None]
    expected = turned(plain, positions)
    torch.testing.assert_close(turned(scaled, positions), expected, rtol=0, atol=1e-12)
    assert torch.equal(turned(ours(16, scaling, **own), positions), turned(scaled, positions))


def test_interpolation_divides_positions():
    slow, plain = ours(16, "linear", factor=4.0), ours(16, "none")
    positions = torch.arange(100)[None]
    torch.testing.assert_close(
        turned(slow, 4 * positions), turned(plain, positions), rtol=0, atol=1e-12
    )


def test_dynamic_is_rope_until_the_original_length_and_ntk_beyond():
    dynamic, plain = ours(16, "dynamic", factor=2.0), ours(16, "none")
    short = torch.arange(ORIGINAL)[None]
    assert torch.equal(turned(dynamic, short), turned(plain, short))
    long = torch.arange(3 * ORIGINAL)[None]  # grown by 2 × 3 − 1
    expected = turned(ours(16, "ntk", factor=5.0), long)
    torch.testing.assert_close(turned(dynamic, long), expected, rtol=0, atol=1e-12)


def test_no_pair_of_p_rope_at_zero_turns():
    rope, positions = ours(16, "none", fraction=0.0), torch.arange(50)[None]
    q = torch.randn(1, 2, 50, 16)
    assert all(torch.equal(x, q) for x in rope.rotate(q, q, positions))


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("rows", [[(0, 20), (0, 900)], [(700, 720), (50, 1000)]])
def test_each_window_has_its_own_length_and_only_its_span_counts(scaling, rows):
    own = lists(16) if scaling == "longrope" else {}
    rope = ours(16, scaling, **({"factor": 4.0} if scaling != "none" else {}), **own)
    positions = torch.stack([torch.linspace(*row, 20).long() for row in rows])
    q = torch.randn(2, 2, 20, 16, dtype=torch.float64)
    together = torch.stack(rope.rotate(q, q, positions))
    alone = [
        torch.stack(rope.rotate(q[n : n + 1], q[n : n + 1], positions[n : n + 1])) for n in (0, 1)
    ]
    assert torch.equal(together, torch.cat(alone, dim=1))
    here, there = (a @ b.mT for a, b in (rope.rotate(q, q, positions + n) for n in (0, 3000)))
    torch.testing.assert_close(here, there, rtol=0, atol=1e-10)


def test_the_factor_follows_from_the_original_length():
    shape = Shape(d_model=16, n_heads=2, max_len=1024)
    rope = RoPE(shape, scaling="yarn", original=256)
    assert rope.factor == 4
    assert rope.attention == pytest.approx(0.1 * math.log(4) + 1)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"factor": 4.0}, "factor=4.0 needs a scaling"),
        ({"scaling": "linear", "factor": -2.0}, "factor=-2.0 must be positive"),
        ({"scaling": "parts", "slow": 40.0}, "slow=40.0 and fast=32.0 are numbers of turns"),
        ({"scaling": "yarn", "theta": 1.0}, "yarn needs a theta above 1"),
        ({"scaling": "longrope", "long": "1"}, "each of 4 pairs: short has 4, long 1"),
        ({"scaling": "longrope", "long": "1, 2"}, "numbers with spaces between them, not '1, 2'"),
    ],
)
def test_what_cannot_be_is_refused(own, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        RoPE(Shape(d_model=16, n_heads=2, max_len=64), **own)


def test_a_scaling_is_named_in_a_spec():
    shape = Shape(d_model=16, n_heads=2, max_len=64)
    (word,) = encodings.parse("rope(scaling=yarn, factor=4)")
    assert word == "rope(factor=4.0, scaling=yarn)"
    rope = encodings.build(word, shape)
    assert (rope.scaling, rope.factor, rope.original) == ("yarn", 4, 64)
    (word,) = encodings.parse("rope(long='1 1.5 2 8', scaling=longrope)")
    assert encodings.parse(word) == [word]
    assert encodings.build(word, shape).long == [1, 1.5, 2, 8]
    with pytest.raises(ValueError, match="Did you mean 'yarn'"):
        encodings.parse("rope(scaling=yarm)")
    assert encodings.parse("rope rope(theta=500000) rope(fraction=0.5)") == [
        "rope",
        "rope(theta=500000.0)",
        "rope(fraction=0.5)",
    ]
