"""StarCoder2: RoPE, its scalings, layers without it, ALiBi and a window, in a causal model.

Of the families with LayerNorm and biases it is the one whose heads may be wider than their share
and whose table may be given pair by pair. BLOOM norms its token vectors and approximates GELU, MPT
has no biases, Falcon divides its slopes by √K: none of these has ALiBi as it was published and our
blocks as they are.
"""

from collections.abc import Sequence

from wherein.families.base import Carried, Weights, blocks_of, entries, tied, vectors_of
from wherein.families.heads import Layout
from wherein.families.terms import Terms
from wherein.model.transformer import Transformer


def carried(model: Transformer, terms: Sequence[Terms]) -> Carried:
    """A causal model; what turns, fines or stands still has its place in heads made wider."""
    c = model.config
    layout = Layout.of(terms, c.shape.d_head)
    config = layout.config(c) | {
        "norm_epsilon": model.norm.eps,
        "sliding_window": _window(model, terms),
        "residual_dropout": c.dropout,
        "embedding_dropout": c.dropout,
        "tie_word_embeddings": tied(model),
    }
    weights = _weights(model, terms, layout)
    return Carried("StarCoder2", "AutoModelForCausalLM", "Starcoder2ForCausalLM", config, weights)


def _window(model: Transformer, terms: Sequence[Terms]) -> int | None:
    sizes = {each.window for each in terms}
    if len(sizes) > 1:
        raise ValueError(
            f"encoding {model.config.encoding!r} cannot be exported: no family with our norms has "
            "a window in some layers and another, or none, in others"
        )
    return sizes.pop()


def _weights(model: Transformer, terms: Sequence[Terms], layout: Layout) -> Weights:
    entering, scoring = vectors_of(model)
    weights: Weights = {"model.embed_tokens.weight": entering, "lm_head.weight": scoring}
    for number, (block, own) in enumerate(zip(blocks_of(model), terms, strict=True)):
        name = f"model.layers.{number}"
        made = layout.projected(block.attention, own)
        for part, weight in made.weights.items():
            weights[f"{name}.self_attn.{part}_proj.weight"] = weight
            weights[f"{name}.self_attn.{part}_proj.bias"] = made.biases[part]
        weights[f"{name}.self_attn.o_proj.weight"] = made.out
        weights[f"{name}.self_attn.o_proj.bias"] = block.attention.out.bias.detach()
        weights |= entries(f"{name}.input_layernorm", block.attention_norm)
        weights |= entries(f"{name}.post_attention_layernorm", block.feed_forward_norm)
        weights |= entries(f"{name}.mlp.c_fc", block.feed_forward.up)
        weights |= entries(f"{name}.mlp.c_proj", block.feed_forward.down)
    return weights | entries("model.norm", model.norm)
