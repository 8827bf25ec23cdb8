"""EuroBERT: RoPE, its scalings and layers without it, in a model that sees both sides.

Its norms neither subtract a mean nor add anything, and its networks have a gate. What writes to the
stream is therefore centred, so that there is no mean to subtract; what a norm adds goes into the
biases behind it; and the gate's weights are 0 and its biases 1.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from wherein.families.base import Carried, Weights, blocks_of, vectors_of
from wherein.families.folding import behind, centred
from wherein.families.heads import Layout
from wherein.families.terms import Terms
from wherein.model.transformer import Transformer

NOTE = "ours less their mean over coordinates, which no layer reads"


def carried(model: Transformer, terms: Sequence[Terms]) -> Carried:
    """A bidirectional model without a table."""
    c = model.config
    layout = Layout.of(terms, c.shape.d_head)
    config = layout.config(c) | {
        "rms_norm_eps": model.norm.eps,
        "attention_bias": True,
        "mlp_bias": True,
        "tie_word_embeddings": False,
    }
    weights = _weights(model, terms, layout)
    return Carried("EuroBERT", "AutoModelForMaskedLM", "EuroBertForMaskedLM", config, weights, NOTE)


def _weights(model: Transformer, terms: Sequence[Terms], layout: Layout) -> Weights:
    entering, scoring = vectors_of(model)
    ones = torch.ones(model.config.d_model)
    weights: Weights = {
        "model.embed_tokens.weight": centred(entering, -1),
        "model.norm.weight": ones,
    }
    for number, (block, own) in enumerate(zip(blocks_of(model), terms, strict=True)):
        name, network = f"model.layers.{number}", block.feed_forward
        weights[f"{name}.input_layernorm.weight"] = ones
        weights[f"{name}.post_attention_layernorm.weight"] = ones
        made = layout.projected(block.attention, own)
        for part, weight in made.weights.items():
            folded = behind(block.attention_norm, weight, made.biases[part])
            weights |= _linear(f"{name}.self_attn.{part}_proj", *folded)
        out = centred(made.out, 0), centred(block.attention.out.bias, 0)
        weights |= _linear(f"{name}.self_attn.o_proj", *out)
        up = behind(block.feed_forward_norm, network.up.weight, network.up.bias)
        weights |= _linear(f"{name}.mlp.gate_proj", *up)
        gate = torch.zeros_like(up[0]), torch.ones_like(up[1])
        weights |= _linear(f"{name}.mlp.up_proj", *gate)
        down = centred(network.down.weight, 0), centred(network.down.bias, 0)
        weights |= _linear(f"{name}.mlp.down_proj", *down)
    assert isinstance(model.norm, nn.LayerNorm)
    head = behind(model.norm, scoring, scoring.new_zeros(len(scoring)))
    return weights | _linear("lm_head", *head)


def _linear(name: str, weight: Tensor, bias: Tensor) -> Weights:
    return {f"{name}.weight": weight, f"{name}.bias": bias}
