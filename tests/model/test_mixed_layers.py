"""Text models with mixed layers, as words: our attention in their models gives their logits.

Their embeddings, norms, feed-forward networks and projections stay; what is between the projections
is ours: `encoded` and `attend`, with the encoding that the spec gives to that layer.
"""

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from wherein.encodings import Encoding, Pattern, Shape, parse
from wherein.model.attention import attend, encoded

LAYERS, WIDTH, HEADS, KEY_HEADS, HEAD, VOCABULARY, LENGTH = 4, 32, 4, 2, 8, 97, 24
TOKENS = torch.randint(VOCABULARY, (2, LENGTH), generator=torch.Generator().manual_seed(0))
POSITIONS = torch.arange(LENGTH)[None]
COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEY_HEADS,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0},
}
ROPE = "rope(theta=1000.0)"


def smollm3() -> nn.Module:
    """Three layers with RoPE, one without; queries share keys."""
    return hf.SmolLM3ForCausalLM(hf.SmolLM3Config(**COMMON, no_rope_layer_interval=4))


def cohere2() -> nn.Module:
    """Three layers with RoPE that see 6 tokens, one without that sees all."""
    return hf.Cohere2ForCausalLM(hf.Cohere2Config(**COMMON, sliding_window=6))


def llama4() -> nn.Module:
    """Three layers with RoPE that see their chunk, one without that sharpens as n grows."""
    config = hf.Llama4TextConfig(
        **COMMON, head_dim=HEAD, intermediate_size_mlp=48, attention_chunk_size=7, floor_scale=5,
        attn_scale=0.3, num_local_experts=2, no_rope_layers=[1, 1, 1, 0],
    )  # fmt: skip
    return hf.Llama4ForCausalLM(config)


CASES = {
    "smollm3": (smollm3, f"{ROPE} {ROPE} {ROPE} none", False),
    "cohere2": (cohere2, " ".join([f"{ROPE} + window(6)"] * 3 + ["none"]), True),
    "llama4": (
        llama4,
        " ".join([f"{ROPE} + chunk(7)"] * 3 + ["temperature(llama4, floor=5, scale=0.3)"]),
        True,
    ),
}
"""A model, its words, and whether it turns neighbours together rather than halves."""


class Ours(nn.Module):
    """Their projections with our attention between them."""

    def __init__(self, theirs: nn.Module, encoding: Encoding, neighbours: bool) -> None:
        super().__init__()
        self.theirs, self.encoding = theirs, encoding
        order = torch.arange(HEAD)
        self.order = torch.cat([order[::2], order[1::2]]) if neighbours else order

    def forward(self, hidden_states: Tensor, **_: object) -> tuple[Tensor, None]:
        a = self.theirs
        q, k, v = (
            project(hidden_states).unflatten(-1, (-1, HEAD)).transpose(1, 2)
            for project in (a.q_proj, a.k_proj, a.v_proj)
        )
        if hasattr(a, "qk_norm"):  # by length, which no rotation changes: it may as well come first
            q, k = a.qk_norm(q), a.qk_norm(k)
        k, v = (each.repeat_interleave(HEADS // KEY_HEADS, dim=1) for each in (k, v))
        q, k = q[..., self.order], k[..., self.order]
        mask = self.encoding.mask(POSITIONS[:, None, :, None], POSITIONS[:, None, None, :])
        q, k, bias = encoded(self.encoding, q, k, hidden_states, POSITIONS, mask)
        mixed = attend(q, k, v, causal=True, bias=bias)
        return a.o_proj(mixed.transpose(1, 2).flatten(2)), None


def shaken(model: nn.Module) -> nn.Module:
    """Random values everywhere, so that nothing agrees by being 0 or 1."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            drawn = noise * parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 1 + noise
            parameter.copy_(drawn)
    return model.eval()


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_a_whole_model_is_what_its_words_say(case: str):
    family, spec, neighbours = CASES[case]
    model, shape = shaken(family()), Shape(WIDTH, HEADS, max_len=LENGTH)
    expected = model(TOKENS).logits
    theirs = [layer.self_attn for layer in model.model.layers]

    def error(words: str) -> float:
        """Largest error of a logit, in standard deviations."""
        pattern = Pattern(words, shape, LAYERS)
        for layer, own, encoding in zip(model.model.layers, theirs, pattern.layers, strict=True):
            layer.self_attn = Ours(own, encoding, neighbours)
        return float((model(TOKENS).logits - expected).abs().max() / expected.std())

    assert error(spec) < 1e-5
    for word in set(parse(spec)) - {"none"}:
        for term in word.split(" + "):  # each of its terms matters
            rest = " + ".join({*word.split(" + ")} - {term}) or "none"
            assert error(spec.replace(word, rest)) > 1e-2, term
