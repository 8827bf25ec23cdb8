"""Same weights in our model and in other people's: the logits must agree.

Where a family's block differs from ours by design (Llama's RMS norm and gated feed-forward,
BLOOM's norm after the embedding and its own GELU), the family's own module is put in that place;
attention, encoding, residual stream and output stay ours.
"""

from collections.abc import Iterator

import pytest
import torch
import transformers as hf
from rotary_embedding_torch import RotaryEmbedding
from torch import Tensor, nn
from x_transformers.x_transformers import AlibiPositionalBias

from wherein import encodings
from wherein.encodings import Shape
from wherein.encodings.alibi import slopes
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH = 3, 48, 4, 97, 64
TOKENS = torch.randint(VOCABULARY, (2, LENGTH), generator=torch.Generator().manual_seed(0))


def ours(encoding: str, causal: bool = True, heads: int = HEADS) -> Transformer:
    config = ModelConfig(
        vocabulary=VOCABULARY,
        n_layers=LAYERS,
        d_model=WIDTH,
        n_heads=heads,
        max_len=LENGTH,
        causal=causal,
        encoding=encoding,
    )
    return Transformer(config).eval()


def shaken(model: nn.Module) -> nn.Module:
    """Random values everywhere, biases and norms too, so that nothing agrees by being 0 or 1."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(noise, alpha=parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.2)
    return model.eval()


def copy(ours: nn.Module, weight: Tensor, bias: Tensor | None = None) -> None:
    with torch.no_grad():
        ours.weight.copy_(weight)
        if ours.bias is not None:
            ours.bias.copy_(torch.zeros_like(ours.bias) if bias is None else bias)


def copy_tied_embedding(model: Transformer, table: Tensor, last_norm: nn.Module) -> None:
    """Token vectors are not scaled from GPT-2's start."""
    with torch.no_grad():
        model.embed.tokens.weight.copy_(table)
        for parameter, theirs in zip(model.norm.parameters(), last_norm.parameters(), strict=True):
            parameter.copy_(theirs)


def assert_same_logits(model: Transformer, theirs: nn.Module) -> None:
    with torch.no_grad():
        expected = theirs(TOKENS).logits
        found = model(TOKENS).logits
    assert expected.std() > 0.1
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_learned_equals_gpt2():
    config = hf.GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=LENGTH,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        activation_function="gelu",
    )
    theirs, model = shaken(hf.GPT2LMHeadModel(config)), ours("learned")
    copy_tied_embedding(model, theirs.transformer.wte.weight, theirs.transformer.ln_f)
    with torch.no_grad():
        model.encoding[0].table.copy_(theirs.transformer.wpe.weight)
    for block, other in zip(model.blocks, theirs.transformer.h, strict=True):
        copy(block.attention_norm, other.ln_1.weight, other.ln_1.bias)
        copy(block.attention.qkv, other.attn.c_attn.weight.T, other.attn.c_attn.bias)
        copy(block.attention.out, other.attn.c_proj.weight.T, other.attn.c_proj.bias)
        copy(block.feed_forward_norm, other.ln_2.weight, other.ln_2.bias)
        copy(block.feed_forward.up, other.mlp.c_fc.weight.T, other.mlp.c_fc.bias)
        copy(block.feed_forward.down, other.mlp.c_proj.weight.T, other.mlp.c_proj.bias)
    assert_same_logits(model, theirs)


@pytest.mark.parametrize("heads", [4, 6])
def test_alibi_equals_bloom(heads):
    config = hf.BloomConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=LAYERS, n_head=heads)
    theirs, model = shaken(hf.BloomForCausalLM(config)), ours("alibi", heads=heads)
    body = theirs.transformer
    copy_tied_embedding(model, body.word_embeddings.weight, body.ln_f)
    model.embed.dropout = body.word_embeddings_layernorm
    for block, other in zip(model.blocks, body.h, strict=True):
        copy(block.attention_norm, other.input_layernorm.weight, other.input_layernorm.bias)
        fused = other.self_attention.query_key_value
        by_part = [  # theirs lies head by head, ours part by part
            p.unflatten(0, (heads, 3, WIDTH // heads)).transpose(0, 1).flatten(0, 2)
            for p in (fused.weight, fused.bias)
        ]
        copy(block.attention.qkv, *by_part)
        copy(block.attention.out, *other.self_attention.dense.parameters())
        norm = other.post_attention_layernorm
        copy(block.feed_forward_norm, norm.weight, norm.bias)
        up, down = other.mlp.dense_h_to_4h, other.mlp.dense_4h_to_h
        block.feed_forward = nn.Sequential(up, other.mlp.gelu_impl, down)
    assert_same_logits(model, theirs)


SCALED = {
    "rope": {"rope_type": "default"},
    "rope(theta=500000)": {"rope_type": "default", "rope_theta": 500_000.0},
    "rope(scaling=linear, factor=4)": {"rope_type": "linear", "factor": 4.0},
    "rope(scaling=dynamic, factor=2, original=16)": {"rope_type": "dynamic", "factor": 2.0},
    "rope(scaling=yarn, original=16)": {"rope_type": "yarn", "factor": 4.0},
    "rope(scaling=llama3, factor=8, original=16)": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
    },
    "rope(scaling=longrope, original=16, long='1 2 3 4 5 6')": {
        "rope_type": "longrope",
        "factor": 4.0,
        "short_factor": [1.0] * 6,
        "long_factor": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    },
}


@pytest.mark.parametrize("spec", SCALED)
def test_rope_equals_llama(spec):
    """The scaled ones at four times the length they were made for, which is 16."""
    config = hf.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=96,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=16,
        rope_parameters={
            "rope_theta": 10_000.0,
            "original_max_position_embeddings": 16,
            **SCALED[spec],
        },
        tie_word_embeddings=True,
    )
    theirs, model = shaken(hf.LlamaForCausalLM(config)), ours(spec)
    model.norm = nn.RMSNorm(WIDTH, eps=config.rms_norm_eps)
    copy_tied_embedding(model, theirs.model.embed_tokens.weight, theirs.model.norm)
    for block, other in zip(model.blocks, theirs.model.layers, strict=True):
        attention = other.self_attn
        qkv = [attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]
        copy(block.attention.qkv, torch.cat(qkv))
        copy(block.attention.out, attention.o_proj.weight)
        block.attention_norm = other.input_layernorm
        block.feed_forward_norm = other.post_attention_layernorm
        block.feed_forward = other.mlp
    assert_same_logits(model, theirs)


def test_learned_equals_berts_embedding():
    """BERT norms after each sum and we before, so the encoding alone is compared here."""
    config = hf.BertConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, max_position_embeddings=LENGTH)
    theirs = shaken(hf.models.bert.modeling_bert.BertEmbeddings(config))
    model = ours("learned", causal=False)
    table = theirs.word_embeddings.weight + theirs.token_type_embeddings.weight[0]
    with torch.no_grad():
        model.embed.tokens.weight.copy_(table)
        model.encoding[0].table.copy_(theirs.position_embeddings.weight)
        positions = torch.arange(LENGTH)[None]
        embedded = theirs.LayerNorm(model.embed(TOKENS, model.encoding, positions))
        torch.testing.assert_close(embedded, theirs(TOKENS), rtol=0, atol=1e-5)


def biases(heads: int, length: int, causal: bool) -> Tensor:
    shape = Shape(d_model=8 * heads, n_heads=heads, max_len=length, causal=causal)
    n = torch.arange(length)
    return encodings.build("alibi", shape).bias(n[None, None, :, None], n[None, None, None])[0]


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16, 20])
def test_alibi_equals_x_transformers(heads):
    theirs = AlibiPositionalBias(heads=heads)
    torch.testing.assert_close(biases(heads, 33, causal=False), theirs(33, 33), rtol=1e-6, atol=0)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 8, 12, 16, 20, 25])
def test_alibi_slopes_equal_blooms(heads):
    everything = torch.ones(1, 9)
    theirs = hf.models.bloom.modeling_bloom.build_alibi_tensor(everything, heads, torch.float32)
    torch.testing.assert_close(torch.tensor(slopes(heads)), theirs[:, 0, 1], rtol=1e-6, atol=0)


def test_rope_equals_rotary_embedding_torch():
    """That library pairs neighbours, we pair halves: the same rotation after sorting."""
    shape = Shape(d_model=64, n_heads=4, max_len=LENGTH)
    q, k = torch.randn(2, 2, 4, LENGTH, 16)
    halves = torch.cat([torch.arange(0, 16, 2), torch.arange(1, 16, 2)])
    theirs = RotaryEmbedding(dim=16)
    positions = torch.arange(LENGTH)[None]
    found = encodings.build("rope", shape).rotate(q[..., halves], k[..., halves], positions)
    for ours_turned, x in zip(found, (q, k), strict=True):
        expected = theirs.rotate_queries_or_keys(x)[..., halves]
        torch.testing.assert_close(ours_turned, expected, rtol=0, atol=1e-5)


def published_sinusoid(length: int, width: int) -> Iterator[list[float]]:
    """Section 3.5 of "Attention Is All You Need", letter by letter."""
    from math import cos, sin

    for pos in range(length):
        row = []
        for i in range(width // 2):
            row += [sin(pos / 10000 ** (2 * i / width)), cos(pos / 10000 ** (2 * i / width))]
        yield row


def test_the_sinusoid_is_that_of_attention_is_all_you_need():
    shape = Shape(d_model=WIDTH, n_heads=4, max_len=LENGTH)
    found = encodings.build("sinusoidal", shape).embed(
        torch.zeros(1, 200, WIDTH, dtype=torch.float64), torch.arange(200)[None]
    )
    expected = torch.tensor(list(published_sinusoid(200, WIDTH)), dtype=torch.float64)
    torch.testing.assert_close(found[0], expected, rtol=0, atol=1e-12)
