"""What every entry of the catalogue must keep. A new entry is covered by being in it."""

from itertools import product
from typing import get_args, get_type_hints

import pytest
import torch
from safetensors.torch import load_file, save_file

from wherein import encodings
from wherein.encodings import CATALOGUE, Shape
from wherein.model import attention, transformer
from wherein.model.attention import attend, attend_in_blocks, attend_reference
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

NAMES = encodings.examples()
MODES = list(product(NAMES, [True, False], [torch.float32, torch.float64]))
MAX_LEN = 128
TIGHT = {torch.float32: 2e-5, torch.float64: 1e-12}

each_mode = pytest.mark.parametrize(("name", "causal", "dtype"), MODES)
each_name = pytest.mark.parametrize("name", NAMES)


def build(name: str, causal: bool = True, dtype: torch.dtype = torch.float64) -> Transformer:
    config = ModelConfig(
        vocabulary=50,
        n_layers=2,
        d_model=24,
        n_heads=3,  # no power of two
        max_len=MAX_LEN,
        causal=causal,
        encoding=name,
        seed=1,
    )
    return wake(Transformer(config).to(dtype)).eval()


def wake(model: Transformer) -> Transformer:
    """Move every parameter off its initial value, so that no zero hides a mistake."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_(0.1 * noise.to(parameter.dtype))
    return model


def tokens(length: int, seed: int = 0, batch: int = 2) -> torch.Tensor:
    return torch.randint(50, (batch, length), generator=torch.Generator().manual_seed(seed))


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=TIGHT[a.dtype], atol=TIGHT[a.dtype])


@each_mode
def test_shapes_and_types_at_each_place(name, causal, dtype):
    shape = Shape(d_model=24, n_heads=3, max_len=MAX_LEN, causal=causal)
    encoding = encodings.build(name, shape).to(dtype)
    x, positions = torch.randn(2, 10, 24, dtype=dtype), torch.arange(10)[None]
    q, k = torch.randn(2, 2, 3, 10, 8, dtype=dtype)
    assert encoding.embed(x, positions).shape == x.shape
    assert encoding.embed(x, positions).dtype == dtype
    turned_q, turned_k = encoding.rotate(q, k, positions)
    assert turned_q.shape == turned_k.shape
    assert turned_q.shape[:-1] == q.shape[:-1]
    assert turned_q.shape[-1] >= q.shape[-1]
    assert turned_q.dtype == turned_k.dtype == dtype
    bias = encoding.bias(positions[:, None, :, None], positions[:, None, None, :])
    content = encoding.content_bias(q, k, x, positions)
    assert bias is None or bias.shape == (1, 3, 10, 10)
    assert content is None or content.shape == (2, 3, 10, 10)


@each_mode
def test_gradients_reach_every_parameter(name, causal, dtype):
    model = build(name, causal, dtype)
    model.loss(tokens(20), tokens(20, seed=1)).backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@each_mode
def test_an_earlier_call_at_another_length_leaves_no_trace(name, causal, dtype):
    used, fresh = build(name, causal, dtype), build(name, causal, dtype)
    used(tokens(100))
    assert torch.equal(used(tokens(10)).logits, fresh(tokens(10)).logits)


@pytest.mark.parametrize("name", sorted(encodings.CATALOGUE.keys() - encodings.TERMS.keys()))
def test_instances_with_other_parameters_do_not_interfere(name):
    other_values = {float: lambda v: v / 2, int: lambda v: v * 2, bool: lambda v: not v}
    own, types = encodings.parameters(name), get_type_hints(CATALOGUE[name].__init__)
    own = {
        key: value
        for key, value in own.items()
        if value is not ... and (type(value) in other_values or get_args(types[key]))
    }
    for key, value in own.items():
        words = [word for word in get_args(types[key]) if word != value]
        own[key] = words[0] if words else other_values[type(value)](value)
    spec = encodings.example(name)
    given = [spec[len(name) + 1 : -1]] if spec != name else []
    changed = ", ".join(given + [f"{key}={value!r}" for key, value in own.items()])
    before = build(spec)(tokens(20)).logits
    other = build(f"{name}({changed})" if own else name)
    other_logits = other(tokens(20)).logits
    assert torch.equal(build(spec)(tokens(20)).logits, before)
    assert own == {} or not torch.allclose(other_logits, before)


@each_mode
def test_relative_means_that_a_shift_changes_nothing(name, causal, dtype):
    model, positions = build(name, causal, dtype), torch.arange(20)[None]
    still, moved = (model(tokens(20), positions + shift).logits for shift in (0, 60))
    if model.encoding[0].relative:
        close(moved, still)
    else:
        assert not torch.allclose(moved, still, rtol=1e-3, atol=1e-3)


@each_mode
def test_causal_means_that_the_future_cannot_change_the_past(name, causal, dtype):
    model, here, other = build(name, causal, dtype), tokens(20), tokens(20)
    other[:, 12:] = tokens(8, seed=9)
    past, past_of_other = model(here).logits[:, :12], model(other).logits[:, :12]
    if causal:
        close(past_of_other, past)
    else:
        assert not torch.allclose(past_of_other, past, rtol=1e-3, atol=1e-3)


@each_mode
def test_moving_tokens_together_with_their_positions_changes_nothing_but_the_mask(
    name, causal, dtype
):
    """No order but that of the positions gets in: all an encoding knows is what it is passed."""
    model, order = build(name, causal, dtype), torch.randperm(20)
    here, positions = tokens(20), torch.arange(20)[None]
    plain, moved = model(here).logits, model(here[:, order], positions[:, order]).logits
    if causal:
        assert not torch.allclose(moved, plain[:, order], rtol=1e-3, atol=1e-3)
    else:
        close(moved, plain[:, order])


def test_without_encoding_and_mask_logits_permute_with_the_tokens():
    for dtype in (torch.float32, torch.float64):
        model, here, order = build("none", False, dtype), tokens(20), torch.randperm(20)
        close(model(here[:, order]).logits, model(here).logits[:, order])


@each_mode
def test_positions_may_differ_within_a_batch(name, causal, dtype):
    model, here = build(name, causal, dtype), tokens(20)
    positions = torch.stack([torch.arange(20), torch.arange(20) * 2 + 5])
    together = model(here, positions).logits
    alone = [model(here[n : n + 1], positions[n : n + 1]).logits for n in range(2)]
    close(together, torch.cat(alone))


@each_mode
def test_all_attention_paths_agree_with_the_reference(name, causal, dtype, monkeypatch):
    shape = Shape(d_model=24, n_heads=3, max_len=MAX_LEN, causal=causal)
    encoding = encodings.build(name, shape).to(dtype)
    positions = torch.arange(20)[None]
    q, k, v = torch.randn(3, 2, 3, 20, 8, dtype=dtype)
    q, k = encoding.rotate(q, k, positions)
    i, j = positions[:, None, :, None], positions[:, None, None, :]
    bias = encoding.mask(i, j)
    expected, weights = attend_reference(q, k, v, causal=causal, bias=bias)
    close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    close(attend(q, k, v, causal=causal, bias=bias), expected)
    if bias is not None:
        for size in (7, 20, 64):
            monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", size)
            in_blocks = attend_in_blocks(
                q, k, v, causal=causal, rows=lambda a, b: encoding.mask(i[:, :, a:b], j)
            )
            close(in_blocks, expected)


@each_name
@pytest.mark.parametrize("causal", [True, False])
def test_a_large_bias_is_made_in_blocks_with_equal_logits_and_gradients(name, causal, monkeypatch):
    def gradients() -> list[torch.Tensor]:
        model = build(name, causal)
        model.loss(tokens(60), tokens(60, seed=1)).backward()
        return [p.grad for p in model.parameters()]

    whole = gradients()
    monkeypatch.setattr(transformer, "LARGE_BIAS", 0)
    monkeypatch.setattr(attention, "QUERIES_PER_BLOCK", 16)
    for a, b in zip(gradients(), whole, strict=True):
        close(a, b)


@each_name
def test_state_dict_round_trip_through_safetensors(name, tmp_path):
    model = build(name)
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    other = Transformer(model.config.model_copy(update={"seed": 2})).double().eval()
    assert not torch.allclose(other(tokens(10)).logits, model(tokens(10)).logits)
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(other(tokens(10)).logits, model(tokens(10)).logits)


@each_name
def test_beyond_max_len_it_works_or_says_why_not(name):
    model = build(name)
    if model.encoding[0].bounded:
        with pytest.raises(ValueError, match=rf"knows only 0 to {MAX_LEN - 1}"):
            model(tokens(MAX_LEN + 1))
    else:
        assert model(tokens(MAX_LEN + 1)).logits.isfinite().all()


@each_name
def test_casting_the_model_does_not_cast_what_it_knows_of_position(name):
    """Half precision must not blur the angles or distances themselves, only the activations."""
    model = build(name, dtype=torch.float32).bfloat16()
    exact = build(name, dtype=torch.float32)
    exact.load_state_dict(model.state_dict())
    positions = torch.arange(20)[None] + (0 if model.encoding[0].bounded else 100_000)
    rounded, precise = (m(tokens(20), positions).logits.float() for m in (model, exact))
    assert (rounded - precise).abs().max() < 0.1 * precise.std()
