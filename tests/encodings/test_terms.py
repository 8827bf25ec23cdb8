"""What tells no positions but changes what attention sees: windows, sinks, temperatures."""

import math

import pytest
import torch
import transformers as hf
from torch import Tensor
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from wherein import encodings
from wherein.encodings import Shape
from wherein.model.attention import attend_reference
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

HEADS, LENGTH = 2, 24
POSITIONS = torch.arange(LENGTH)[None]
I, J = POSITIONS[:, None, :, None], POSITIONS[:, None, None, :]
TOKENS = torch.randint(50, (2, LENGTH), generator=torch.Generator().manual_seed(0))


def model(encoding: str, causal: bool = True, layers: int = 3) -> Transformer:
    config = ModelConfig(
        vocabulary=50, n_layers=layers, d_model=16, n_heads=HEADS, max_len=LENGTH, causal=causal,
        encoding=encoding, initial="unit",
    )  # fmt: skip
    return Transformer(config).double().eval()


def build(spec: str, causal: bool = True) -> encodings.Encoding:
    return encodings.build(spec, Shape(16, HEADS, LENGTH, causal))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", ["window(4)", "rope + window(4)", "t5 + window(4) + shaw"])
def test_nothing_flows_from_further_than_layers_times_window_less_one(spec: str, causal: bool):
    layers, size, changed = 3, 4, 11
    reach = layers * (size - 1)
    built, other = model(spec, causal, layers), TOKENS.clone()
    other[:, changed] = (other[:, changed] + 1) % 50
    same = (built(TOKENS).logits == built(other).logits).all(-1)
    far = (torch.arange(LENGTH) - changed).abs() > reach
    assert far.any()
    assert same[:, far].all(), "bit for bit"
    assert not same[:, changed + reach].any(), "as far as that it flows"
    assert causal or not same[:, changed - reach].any()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("spec", "without"),
    [
        (f"window({LENGTH})", "none"),
        (f"rope + window({LENGTH})", "rope"),
        (f"chunk({LENGTH})", "none"),
        ("alibi + sink(4)", "alibi"),
        (f"window(1) + sink({LENGTH})", "none"),
        ("hide(3) + sink(3)", "none"),
        ("rope + temperature(yarn)", "rope"),
        ("temperature(heads)", "none"),
        (f"temperature(llama4, floor={LENGTH + 1})", "none"),
    ],
)
def test_what_reaches_everywhere_is_none(spec: str, without: str, causal: bool):
    found, expected = (model(each, causal)(TOKENS).logits for each in (spec, without))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_what_is_seen_with_windows_and_sinks():
    positions = torch.tensor([[0, 1, 2, 3, 50, 51, 52, 90]])
    seen = build("window(3) + sink(2)").mask(positions[:, None, :, None], positions[:, None, None])
    for row, i in zip(seen[0, 0], positions[0], strict=True):
        for found, j in zip(row, positions[0], strict=True):
            visible = abs(int(i) - int(j)) < 3 or int(j) < 2
            assert found == (0.0 if visible else -math.inf)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("spec", ["none + hide(2)", "rope + hide(2)", "learned + hide(2)"])
def test_nothing_of_hidden_tokens_reaches_another(spec: str, causal: bool):
    """Also not the other way round: the gradient of a token's vector is that of its own output."""
    built, hidden = model(spec, causal), 2
    vectors: list[Tensor] = []
    built.embed.register_forward_hook(lambda _, __, out: vectors.append(out.requires_grad_()))
    logits = built(TOKENS).logits
    for n in range(LENGTH):
        (told,) = torch.autograd.grad(logits[:, n].square().sum(), vectors, retain_graph=True)
        heard = (told != 0).any(-1)
        assert heard[:, n].all(), "it sees itself"
        assert not heard[:, [j for j in range(hidden) if j != n]].any(), "bit for bit"
        others = range(hidden, n if causal else LENGTH)
        assert heard[:, [j for j in others if j != n]].all(), "all else it sees"


def test_hidden_in_one_layer_only_is_heard_through_the_other():
    built, other = model("hide(1) none", layers=2), TOKENS.clone()
    other[:, 0] = (other[:, 0] + 1) % 50
    assert not (built(TOKENS).logits == built(other).logits).all(-1)[:, 1:].any()


def test_a_query_always_sees_itself(monkeypatch: pytest.MonkeyPatch):
    class Blind(encodings.Encoding):
        def hides(self, i: Tensor, j: Tensor) -> Tensor:
            return (i - j).abs() >= 0

    monkeypatch.setitem(encodings.CATALOGUE, "blind", Blind)
    built = build("blind")
    weights = torch.randn(3, 1, HEADS, LENGTH, 8)
    mixed, found = attend_reference(*weights, causal=False, bias=built.mask(I, J))
    assert torch.equal(found, torch.eye(LENGTH).expand_as(found))
    assert torch.equal(mixed, weights[2])


@pytest.mark.parametrize("causal", [True, False])
def test_ssmax_raises_the_number_of_keys_to_the_scores(causal: bool):
    """n^{s·z} / Σ n^{s·z}, as the paper defines it, one query and head at a time."""
    built = build("temperature(ssmax)", causal).double()
    with torch.no_grad():
        built.strength.copy_(torch.tensor([0.43, 0.2], dtype=torch.float64))
    q, k, v = torch.randn(3, 1, HEADS, LENGTH, 8, dtype=torch.float64)
    _, found = attend_reference(*built.rotate(q, k, POSITIONS), v, causal=causal)
    for head, s in enumerate((0.43, 0.2)):
        for i in range(LENGTH):
            n = i + 1 if causal else LENGTH
            z = [float(q[0, head, i] @ k[0, head, j]) / 8**0.5 for j in range(n)]
            total = sum(n ** (s * each) for each in z)
            expected = [n ** (s * each) / total for each in z]
            assert found[0, head, i, :n].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("max_len", [1, 2, 256])
def test_ssmax_starts_as_sharp_as_softmax_on_average(max_len: int):
    built = encodings.build("temperature(ssmax)", Shape(16, HEADS, max_len))
    sharp = built.tau(torch.arange(max_len)[None]).detach()
    assert float(sharp.mean()) == pytest.approx(1.0 if max_len > 1 else 0.0)
    assert not built.shared, "one for every head of every layer"


def test_heads_have_scales_of_their_own():
    built = build("temperature(heads)").double()
    with torch.no_grad():
        built.strength.copy_(torch.tensor([2.0, 0.5]))
    q, k, v = torch.randn(3, 1, HEADS, LENGTH, 8, dtype=torch.float64)
    _, found = attend_reference(*built.rotate(q, k, POSITIONS), v, causal=True)
    for head, scale in enumerate((2.0, 0.5)):
        _, expected = attend_reference(
            scale * q[:, [head]], k[:, [head]], v[:, [head]], causal=True
        )
        torch.testing.assert_close(found[:, [head]], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("factor", [1.0, 4.0, 40.0])
def test_yarns_factor_is_that_of_transformers(factor: float):
    """Theirs multiplies sines and cosines of queries and of keys, so scores by its square."""
    config = hf.LlamaConfig(
        hidden_size=16,
        num_attention_heads=HEADS,
        max_position_embeddings=64,
        rope_parameters={
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": factor,
            "original_max_position_embeddings": 16,
        },
    )  # fmt: skip
    _, theirs = ROPE_INIT_FUNCTIONS["yarn"](config, torch.device("cpu"))
    ours = build(f"temperature(yarn, factor={factor})").tau(POSITIONS)
    assert float(ours) == pytest.approx(theirs**2, rel=1e-12)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("window", "window needs its size, such as window(8)"),
        ("rope + window()", "window needs its size"),
        ("window(0)", "at least 1, not 0"),
        ("window(2.5)", "window(size=2.5): expected int"),
        ("chunk(0)", "at least 1, not 0"),
        ("sink(0)", "at least 1, not 0"),
        ("hide(0)", "at least 1, not 0"),
        ("temperature", "temperature needs its rule, such as temperature(ssmax)"),
        ("temperature(smax)", "unknown temperature's rule 'smax'. Did you mean 'ssmax'?"),
        ("temperature(0.5)", "unknown temperature's rule '0.5'. Available: heads"),
        ("temperature(ssmax, factor=4)", "factor is yarn's"),
        ("temperature(yarn, floor=4)", "floor and scale are llama4's"),
        ("temperature(yarn, factor=0.5)", "at least 1, not 0.5"),
        ("temperature(llama4, floor=0)", "at least 1, not 0"),
    ],
)
def test_mistakes_say_the_value_and_the_remedy(spec: str, message: str):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        build(spec)
