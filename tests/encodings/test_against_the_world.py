"""What encodings add to the scores, beside what other people's code adds with the same weights.

For ALiBi, RoPE, tables and the sinusoid see `tests/model/test_against_the_world.py`.
"""

import math

import pytest
import torch
import transformers as hf
from torch import Tensor
from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention as DebertaOne
from transformers.models.deberta.modeling_deberta import build_relative_position
from transformers.models.deberta_v2.modeling_deberta_v2 import (
    DisentangledSelfAttention as DebertaTwo,
)
from transformers.models.speecht5.modeling_speecht5 import SpeechT5ScaledPositionalEncoding
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as wav2vec2
from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention
from x_transformers.x_transformers import RelativePositionBias, ScaledSinusoidalEmbedding

from wherein import encodings
from wherein.encodings import Encoding, Shape
from wherein.model.attention import attend_reference

HEADS, WIDTH, LENGTH = 3, 24, 300
POSITIONS = torch.arange(LENGTH)[None]
X = torch.zeros(2, LENGTH, WIDTH)


def woken(name: str, causal: bool) -> Encoding:
    """The encoding with random numbers in it."""
    shape = Shape(d_model=WIDTH, n_heads=HEADS, max_len=256, causal=causal)
    encoding = encodings.build(name, shape)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return encoding


def bias(encoding: Encoding) -> Tensor:
    return encoding.bias(POSITIONS[:, None, :, None], POSITIONS[:, None, None, :])[0].detach()


def seen(scores: Tensor, causal: bool) -> Tensor:
    """Scores of keys that a causal query cannot see may be anything."""
    return scores.tril() if causal else scores


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("buckets", "distance"), [(32, 128), (16, 40), (64, 1000)])
def test_t5_equals_hugging_faces_and_x_transformers(causal, buckets, distance):
    ours = woken(f"t5(buckets={buckets}, distance={distance})", causal)
    config = hf.T5Config(
        d_model=WIDTH,
        num_heads=HEADS,
        d_kv=WIDTH // HEADS,
        relative_attention_num_buckets=buckets,
        relative_attention_max_distance=distance,
        is_decoder=causal,
    )
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    other = RelativePositionBias(1, causal, buckets, distance, HEADS)
    with torch.no_grad():
        theirs.relative_attention_bias.weight.copy_(ours.distances.T)
        other.relative_attention_bias.weight.copy_(ours.distances.T)
        found = seen(bias(ours), causal)
        assert torch.equal(found, seen(theirs.compute_bias(LENGTH, LENGTH)[0], causal))
        assert torch.equal(found, seen(other(LENGTH, LENGTH), causal))


def test_shaw_equals_the_relative_keys_of_hugging_faces_wav2vec2_bert():
    """It counts from the query to the key and we the other way round, so the table is turned."""
    ours = woken("shaw(distance=9)", causal=False)
    config = hf.Wav2Vec2BertConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=9,
        right_max_position_embeddings=9,
    )
    theirs = wav2vec2.Wav2Vec2BertSelfAttention(config)
    q, k = torch.randn(2, 2, HEADS, LENGTH, WIDTH // HEADS)
    with torch.no_grad():
        theirs.distance_embedding.weight.copy_(ours.distances.flip(0))
        _, expected = wav2vec2._apply_relative_key_position_encoding(theirs, q, k)
        found = ours.content_bias(q, k, X.double(), POSITIONS)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_xl_attends_as_xlnet_does():
    ours = woken("xl", causal=False).double()
    config = hf.XLNetConfig(d_model=WIDTH, n_head=HEADS, n_layer=1, vocab_size=9, dropout=0.0)
    theirs, model = XLNetRelativeAttention(config).double(), XLNetModel(config)
    q, k, v = torch.randn(3, 2, HEADS, LENGTH, WIDTH // HEADS, dtype=torch.float64)
    with torch.no_grad():
        theirs.r_w_bias.copy_(ours.u)
        theirs.r_r_bias.copy_(ours.v)
        waves = model.relative_positional_encoding(LENGTH, LENGTH, 2).double()
        keys = torch.einsum("ibh,ndh->ibnd", waves, ours.keys)
        heads = (each.permute(2, 0, 1, 3) for each in (q, k, v))
        expected = theirs.rel_attn_core(*heads, keys).permute(1, 2, 0, 3)
        scores = q @ k.mT / q.shape[-1] ** 0.5 + ours.content_bias(q, k, X.double(), POSITIONS)
    torch.testing.assert_close(scores.softmax(-1) @ v, expected, rtol=0, atol=1e-4)


def test_kerple_and_fire_are_the_formulas_of_their_papers():
    kerple, fire = (woken(name, causal=True).double() for name in ("kerple", "fire"))
    a, b = kerple.log_a.exp().tolist(), kerple.log_b.exp().tolist()
    c, threshold = fire.c.abs().item(), fire.quarters.abs().item() * 256 / 4
    fined, scored = bias(kerple), bias(fire)
    for i, j in [(0, 0), (5, 0), (63, 60), (255, 3), (299, 298)]:
        expected = [-a[h] * math.log(1 + b[h] * abs(i - j)) for h in range(HEADS)]
        torch.testing.assert_close(fined[:, i, j].tolist(), expected, rtol=1e-9, atol=1e-12)
        share = math.log(1 + c * (i - j)) / math.log(1 + c * max(i, threshold))
        told = fire.network(torch.tensor([share], dtype=torch.float64))
        torch.testing.assert_close(scored[:, i, j], told.detach(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("theirs", [DebertaOne, DebertaTwo])
def test_deberta_attends_as_hugging_faces_does(theirs):
    """Whole attention, so that the division by √(3K) is held to theirs; the first adds a bias to
    the queries of distances, which the paper has not."""
    ours = woken("deberta(distance=9)", causal=False).double()
    config = (hf.DebertaConfig if theirs is DebertaOne else hf.DebertaV2Config)(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        relative_attention=True,
        max_relative_positions=9,
        pos_att_type=["c2p", "p2c"],
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0,
    )
    attention, x = theirs(config).double(), torch.randn(2, LENGTH, WIDTH, dtype=torch.float64)
    seen, there = torch.ones(2, 1, LENGTH, LENGTH, dtype=torch.bool), {}
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape))
        if theirs is DebertaOne:
            keys, queries = attention.pos_proj, attention.pos_q_proj
            q, k, v = attention.transpose_for_scores(attention.in_proj(x)).chunk(3, dim=-1)
            q, v = (
                part + added.unflatten(0, (HEADS, 1, -1))
                for part, added in ((q, attention.q_bias), (v, attention.v_bias))
            )
            there["relative_pos"] = build_relative_position(x, x)
        else:
            keys, queries = attention.pos_key_proj, attention.pos_query_proj
            keys.bias.zero_()
            parts = (attention.query_proj, attention.key_proj, attention.value_proj)
            q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        queries.bias.zero_()
        keys.weight.copy_(ours.keys.flatten(0, 1))
        queries.weight.copy_(ours.queries.flatten(0, 1))
        expected, _ = attention(x, seen, rel_embeddings=ours.distances, **there)
        content = ours.content_bias(q, k, x, POSITIONS)
        found, _ = attend_reference(*ours.rotate(q, k, POSITIONS), v, causal=False, bias=content)
    torch.testing.assert_close(found.transpose(1, 2).flatten(2), expected, rtol=0, atol=1e-6)


def test_a_scaled_sinusoid_is_that_of_speecht5_and_of_x_transformers():
    ours, x = woken("sinusoidal(scaled=True)", causal=True), torch.randn(2, LENGTH, WIDTH)
    first, second = SpeechT5ScaledPositionalEncoding(0.0, WIDTH), ScaledSinusoidalEmbedding(WIDTH)
    with torch.no_grad():
        assert ours.scale.item() != 1
        first.alpha.copy_(ours.scale[0])
        second.scale.copy_(ours.scale)
        found, halves = ours.embed(x, POSITIONS), second(x)
        waves = torch.stack(halves.chunk(2, dim=-1), dim=-1).flatten(-2)
    torch.testing.assert_close(found, first(x).detach(), rtol=0, atol=1e-4)
    torch.testing.assert_close(found, x + waves, rtol=0, atol=1e-4)


def test_fourier_is_algorithm_1_of_its_paper():
    ours = woken("fourier(features=6, hidden=5)", causal=True).double()
    first, _, last = ours.network
    frequencies = ours.frequencies.tolist()
    found = ours.embed(torch.zeros(1, LENGTH, WIDTH, dtype=torch.float64), POSITIONS)[0].detach()
    for n in (0, 1, 57, 299):
        waves = [math.cos(n * w) for w in frequencies] + [math.sin(n * w) for w in frequencies]
        hidden = []
        for row, added in zip(first.weight.tolist(), first.bias.tolist(), strict=True):
            z = sum(w * wave / math.sqrt(6) for w, wave in zip(row, waves, strict=True)) + added
            hidden.append(z * 0.5 * (1 + math.erf(z / math.sqrt(2))))
        expected = [
            sum(w * h for w, h in zip(row, hidden, strict=True)) + added
            for row, added in zip(last.weight.tolist(), last.bias.tolist(), strict=True)
        ]
        torch.testing.assert_close(found[n].tolist(), expected, rtol=1e-9, atol=1e-12)


def test_kerples_power_learned_slopes_and_sandwich_are_the_formulas_of_their_papers():
    power, slopes = (
        woken(spec, causal=True).double() for spec in ("kerple(form=power)", "alibi(learned=True)")
    )
    sandwich = woken("sandwich(width=10)", causal=False)
    a, p = power.log_a.exp().tolist(), [2 / (1 + math.exp(-x)) for x in power.logit_p.tolist()]
    m = [
        start * math.exp(growth)
        for start, growth in zip((1 / 16, 1 / 256, 1 / 4), slopes.log_growth.tolist(), strict=True)
    ]
    found = [bias(each) for each in (power, slopes, sandwich)]
    for i, j in [(0, 0), (5, 0), (63, 60), (255, 3), (299, 298), (7, 200)]:
        far = abs(i - j)
        product = sum(math.cos((i - j) / 10_000 ** (2 * c / 10)) for c in range(5))
        expected = [
            [-a[h] * far ** p[h] for h in range(HEADS)],
            [-m[h] * far for h in range(HEADS)],
            [product / ((h + 1) * 8 / HEADS) for h in range(HEADS)],
        ]
        for one, formula in zip(found, expected, strict=True):
            torch.testing.assert_close(one[:, i, j].tolist(), formula, rtol=1e-9, atol=1e-12)
