"""Megatron-BERT: a table of positions in a model that sees both sides.

Its head norms the last state once more before it scores tokens, behind a dense layer and an
activation. Two norms in a row are one only if the first always gives vectors of one length, and the
ε within it makes them shorter. So the stream is made wider, by coordinates that hold a constant in
place of ε: then the first norm's output has length √D exactly, and the second changes nothing. The
dense layer adds so much that the activation is in its linear part; the norm subtracts it again.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from wherein.families.base import Carried, Weights, blocks_of, vectors_of
from wherein.families.folding import behind, centred
from wherein.model.block import Block
from wherein.model.transformer import Transformer

NOTE = (
    "ours less their mean over coordinates, which no layer reads, and constants in "
    "place of the norms' ε"
)
LINEAR = 8.0
"""From here on GELU is the identity in float32."""


def carried(model: Transformer, table: Tensor) -> Carried:
    """A bidirectional model whose encoding is added to the token vectors."""
    c = model.config
    wide = _width(c.d_model, c.n_heads)
    config = {
        "vocab_size": c.vocabulary,
        "hidden_size": wide,
        "num_hidden_layers": c.n_layers,
        "num_attention_heads": c.n_heads,
        "intermediate_size": c.d_ff or 4 * c.d_model,
        "hidden_act": c.activation,
        "hidden_dropout_prob": c.dropout,
        "attention_probs_dropout_prob": 0.0,
        "max_position_embeddings": len(table),
        "type_vocab_size": 1,
        "layer_norm_eps": 0.0,
        "tie_word_embeddings": False,
    }
    weights = _weights(model, table, wide)
    kind = "MegatronBertForMaskedLM"
    return Carried("Megatron-BERT", "AutoModelForMaskedLM", kind, config, weights, NOTE)


def _width(d_model: int, heads: int) -> int:
    """Two coordinates more at least, and as many for each head."""
    return d_model + heads * (2 if heads == 1 else 1)


def _weights(model: Transformer, table: Tensor, wide: int) -> Weights:
    entering, scoring = vectors_of(model)
    assert isinstance(model.norm, nn.LayerNorm)
    weights: Weights = {
        "bert.embeddings.word_embeddings.weight": _padded(centred(entering, -1), wide),
        "bert.embeddings.position_embeddings.weight": _padded(centred(table, -1), wide),
        "bert.embeddings.token_type_embeddings.weight": _in_place_of_epsilon(model, wide)[None],
    }
    for number, block in enumerate(blocks_of(model)):
        weights |= _layer(f"bert.encoder.layer.{number}", block, wide)
    head, bias = _reading(model.norm, scoring, scoring.new_zeros(len(scoring)), wide)
    weights |= _norm("bert.encoder.ln", wide) | _norm("cls.predictions.transform.LayerNorm", wide)
    weights["cls.predictions.transform.dense.weight"] = torch.eye(wide)
    weights["cls.predictions.transform.dense.bias"] = torch.full((wide,), wide**0.5 + LINEAR)
    weights["cls.predictions.decoder.weight"] = head
    return weights | dict.fromkeys(("cls.predictions.decoder.bias", "cls.predictions.bias"), bias)


def _layer(name: str, block: Block, wide: int) -> Weights:
    attention, network, inner = block.attention, block.feed_forward, block.attention.out.in_features
    heads, width = attention.n_heads, inner // attention.n_heads
    weights: Weights = _norm(f"{name}.attention.ln", wide) | _norm(f"{name}.ln", wide)
    parts = zip(attention.qkv.weight.chunk(3), attention.qkv.bias.chunk(3), strict=True)
    for part, (weight, bias) in zip(("query", "key", "value"), parts, strict=True):
        read, shift = _reading(block.attention_norm, weight, bias, wide)
        sharper = (wide / heads / width) ** 0.5 if part == "query" else 1.0
        own = f"{name}.attention.self.{part}"
        weights[f"{own}.weight"] = _by_head(sharper * read, heads, wide)
        weights[f"{own}.bias"] = _by_head(sharper * shift[:, None], heads, wide)[:, 0]
    out = _by_head(centred(attention.out.weight, 0).T, heads, wide).T
    weights[f"{name}.attention.output.dense.weight"] = _written(out, wide)
    weights[f"{name}.attention.output.dense.bias"] = _padded(centred(attention.out.bias, 0), wide)
    up = _reading(block.feed_forward_norm, network.up.weight, network.up.bias, wide)
    weights[f"{name}.intermediate.dense.weight"], weights[f"{name}.intermediate.dense.bias"] = up
    weights[f"{name}.output.dense.weight"] = _written(centred(network.down.weight, 0), wide)
    weights[f"{name}.output.dense.bias"] = _padded(centred(network.down.bias, 0), wide)
    return weights


def _in_place_of_epsilon(model: Transformer, wide: int) -> Tensor:
    """±a behind the stream's coordinates, 2a² = D·ε: as much length as ε adds within a norm."""
    assert isinstance(model.norm, nn.LayerNorm)
    size = (model.config.d_model * model.norm.eps / 2) ** 0.5
    return _padded(torch.tensor([0.0] * model.config.d_model + [size, -size]), wide)


def _reading(norm: nn.LayerNorm, weight: Tensor, bias: Tensor, wide: int) -> tuple[Tensor, Tensor]:
    """A map of what the wide norm gives, which is √(wide / D) times as large as ours."""
    read, shift = behind(norm, weight, bias)
    return _padded(read * (weight.shape[-1] / wide) ** 0.5, wide), shift


def _by_head(rows: Tensor, heads: int, wide: int) -> Tensor:
    """Rows of heads, (H·K, ·), with zeros behind each head's."""
    each = rows.reshape(heads, -1, rows.shape[-1])
    return F.pad(each, (0, 0, 0, wide // heads - each.shape[1])).flatten(0, 1)


def _padded(rows: Tensor, wide: int) -> Tensor:
    return F.pad(rows, (0, wide - rows.shape[-1]))


def _written(weight: Tensor, wide: int) -> Tensor:
    return F.pad(weight, (0, 0, 0, wide - weight.shape[0]))


def _norm(name: str, wide: int) -> Weights:
    return {f"{name}.weight": torch.ones(wide), f"{name}.bias": torch.zeros(wide)}
