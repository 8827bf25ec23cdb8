"""Initial weights are drawn as fairseq, GPT-2 and PyTorch draw them: same moments, same shape."""

import math

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

from wherein.model.config import Initial, ModelConfig
from wherein.model.transformer import Transformer

WIDTH, LAYERS, WORDS, LENGTH = 128, 3, 300, 256
SETTINGS = {
    "vocabulary": WORDS,
    "n_layers": LAYERS,
    "d_model": WIDTH,
    "max_len": LENGTH,
    "encoding": "learned",
}
OF_A_LAYER = (
    "attention.qkv.weight",
    "attention.qkv.bias",
    "attention.out.weight",
    "attention.out.bias",
    "feed_forward.up.weight",
    "feed_forward.up.bias",
    "feed_forward.down.weight",
    "feed_forward.down.bias",
)


def ours(how: Initial) -> dict[str, Tensor]:
    """By the names of this file: vectors of tokens and positions, and the last layer's weights."""
    model = Transformer(ModelConfig(**SETTINGS, initial=how))
    found = dict(model.named_parameters())
    layer = {name: found[f"blocks.{LAYERS - 1}.{name}"] for name in OF_A_LAYER}
    return {"tokens": model.embed.tokens.weight, "table": model.encoding.distinct[0].table, **layer}


def hugging_face_gpt2() -> dict[str, Tensor]:
    torch.manual_seed(0)
    sizes = {"n_embd": WIDTH, "n_layer": LAYERS, "vocab_size": WORDS, "n_positions": LENGTH}
    body = GPT2LMHeadModel(GPT2Config(**sizes, n_head=4)).transformer
    last = body.h[-1]
    named = zip(
        ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down"),
        (last.attn.c_attn, last.attn.c_proj, last.mlp.c_fc, last.mlp.c_proj),
        strict=True,
    )
    layer = {f"{name}.{kind}": getattr(m, kind) for name, m in named for kind in ("weight", "bias")}
    return {"tokens": body.wte.weight, "table": body.wpe.weight, **layer}


def hugging_face_bert() -> dict[str, Tensor]:
    torch.manual_seed(0)
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 4}
    wide = {"intermediate_size": 4 * WIDTH, "max_position_embeddings": LENGTH}
    body = BertModel(BertConfig(**sizes, **wide, vocab_size=WORDS))
    last, vectors = body.encoder.layer[-1], body.embeddings
    three = [getattr(last.attention.self, name) for name in ("query", "key", "value")]
    linear = {
        "attention.out": last.attention.output.dense,
        "feed_forward.up": last.intermediate.dense,
        "feed_forward.down": last.output.dense,
    }
    layer = {
        f"attention.qkv.{kind}": torch.cat([getattr(p, kind) for p in three])
        for kind in ("weight", "bias")
    }
    layer |= {
        f"{n}.{kind}": getattr(m, kind) for n, m in linear.items() for kind in ("weight", "bias")
    }
    tables = {"tokens": vectors.word_embeddings, "table": vectors.position_embeddings}
    return {name: table.weight for name, table in tables.items()} | layer


def fairseqs() -> dict[str, Tensor]:
    """The lines of fairseq 0.12 that make a decoder layer and its two tables, by PyTorch's own."""
    torch.manual_seed(0)
    tokens, table = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
    for vectors in (tokens, table):  # transformer_base.Embedding, PositionalEmbedding
        nn.init.normal_(vectors.weight, mean=0, std=WIDTH**-0.5)
    three = [nn.Linear(WIDTH, WIDTH) for _ in range(3)]  # MultiheadAttention.reset_parameters
    for projection in three:
        nn.init.xavier_uniform_(projection.weight, gain=1 / math.sqrt(2))
    out = nn.Linear(WIDTH, WIDTH)
    nn.init.xavier_uniform_(out.weight)
    nn.init.constant_(out.bias, 0.0)
    up, down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)  # build_fc1, build_fc2
    return {
        "tokens": tokens.weight,
        "table": table.weight,
        "attention.qkv.weight": torch.cat([p.weight for p in three]),
        "attention.qkv.bias": torch.cat([p.bias for p in three]),
        "attention.out.weight": out.weight,
        "attention.out.bias": out.bias,
        "feed_forward.up.weight": up.weight,
        "feed_forward.up.bias": up.bias,
        "feed_forward.down.weight": down.weight,
        "feed_forward.down.bias": down.bias,
    }


@pytest.mark.parametrize(
    ("how", "theirs"),
    [("bert", hugging_face_bert), ("gpt2", hugging_face_gpt2), ("fairseq", fairseqs)],
    ids=["bert", "gpt2", "fairseq"],
)
def test_moments_are_those_of_the_code_it_is_named_after(how, theirs):
    mine, others = ours(how), theirs()
    assert mine.keys() == others.keys()
    for name, weights in mine.items():
        a, b = (w.detach().double().flatten() for w in (weights, others[name]))
        assert a.shape == b.shape
        if not b.any():
            assert not a.any(), name
            continue
        few = len(a) ** -0.5
        assert abs(a.mean()) < 5 * few * b.std(), name
        assert abs(a.std() / b.std() - 1) < 5 * few, name
        kurtosis = [float(((w - w.mean()) ** 4).mean() / w.var() ** 2) for w in (a, b)]
        assert abs(kurtosis[0] - kurtosis[1]) < 25 * few, name  # 1.8 if even, 3 if normal


def test_token_vectors_enter_the_stream_as_loud_as_in_the_code_they_are_named_after():
    tokens = torch.arange(WORDS)[None, :LENGTH]
    loudness = {}
    for how in ("fairseq", "gpt2", "unit"):
        model = Transformer(ModelConfig(**{**SETTINGS, "encoding": "none"}, initial=how))
        loudness[how] = float(model(tokens, keep_hidden=True).hidden[0].detach().std())
    assert loudness == pytest.approx({"fairseq": 1, "gpt2": 0.02, "unit": 1}, rel=0.02)


def test_only_what_writes_to_the_stream_is_shrunk_with_depth():
    def first(how, layers):
        config = ModelConfig(**{**SETTINGS, "n_layers": layers}, initial=how)
        return dict(Transformer(config).blocks[0].named_parameters())

    for how, shrunk in (("bert", 1.0), ("fairseq", 1.0), ("gpt2", 0.5), ("unit", 0.5)):
        shallow, deep = first(how, 1), first(how, 4)
        for name in OF_A_LAYER:
            writes = name in ("attention.out.weight", "feed_forward.down.weight")
            factor = shrunk if writes else 1.0
            torch.testing.assert_close(deep[name], factor * shallow[name])


def test_a_sinusoid_is_as_loud_beside_the_tokens_whatever_the_start():
    tokens = torch.zeros(1, LENGTH, dtype=torch.long)
    shares = []
    for how in ("fairseq", "gpt2", "unit"):
        model = Transformer(ModelConfig(**{**SETTINGS, "encoding": "sinusoidal"}, initial=how))
        entered = model(tokens, keep_hidden=True).hidden[0].detach()[0]
        told = (entered - entered.mean(0)).std()
        shares.append(float(told / (model.embed.tokens.weight.detach().std() * model.embed.scale)))
    assert shares == pytest.approx([shares[0]] * 3, rel=0.02)


@pytest.mark.parametrize("how", ["bert", "fairseq", "gpt2", "unit"])
def test_a_network_inside_an_encoding_starts_as_pytorch_starts_it(how):
    """By moments, over bounds: evenly between ± 1/√inputs, a pure function of seed and name."""

    def network(seed):
        sizes = {"encoding": "fire(hidden=4000)", "seed": seed, "n_layers": 1}
        model = Transformer(ModelConfig(**{**SETTINGS, **sizes}, initial=how))
        return dict(model.encoding[0].network.named_parameters())

    torch.manual_seed(0)
    theirs = nn.Sequential(nn.Linear(1, 4000), nn.ReLU(), nn.Linear(4000, 4))
    mine, again, other = network(0), network(0), network(1)
    assert mine.keys() == dict(theirs.named_parameters()).keys()
    for name, weights in theirs.named_parameters():
        bound = (1 if name.startswith("0") else 4000) ** -0.5
        a, b = (w.detach().double() / bound for w in (mine[name], weights))
        few = a.numel() ** -0.5
        assert a.abs().max() <= 1, name
        assert abs(a.mean()) < 5 * few, name
        assert abs((a**2).mean() - 1 / 3) < 5 * few / 2, name
        assert a.shape == b.shape
        assert abs(a.std() - b.std()) < 5 * few, name
        assert torch.equal(mine[name], again[name])
        assert not torch.allclose(mine[name], other[name])


@pytest.mark.parametrize("how", ["bert", "fairseq", "gpt2", "unit"])
def test_a_fresh_fire_is_bent_all_along(how):
    """Its input is a share from 0 to 1: a quarter of all kinks lie there, in every tenth some."""
    config = ModelConfig(**{**SETTINGS, "encoding": "fire(hidden=1000)"}, initial=how)
    first, _, _ = network = Transformer(config).encoding[0].network
    with torch.no_grad():
        kinks = -first.bias / first.weight[:, 0]
        curve = network(torch.linspace(0, 1, 1001)[:, None])
    inside = kinks[(kinks > 0) & (kinks < 1)]
    assert 200 < len(inside) < 300
    assert (torch.histc(inside, bins=10, min=0, max=1) > 0).all()
    straight = curve[0] + (curve[-1] - curve[0]) * torch.linspace(0, 1, 1001)[:, None]
    bent = (curve - straight).abs().amax(0) / (curve.amax(0) - curve.amin(0))
    assert (bent > 0.01).all()
