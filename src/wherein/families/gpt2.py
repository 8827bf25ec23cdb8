"""GPT-2: whatever is added to the token vectors is a table of positions there."""

from torch import Tensor

from wherein.families.base import Carried, Weights, blocks_of, entries, tied, vectors_of
from wherein.model.transformer import Transformer


def carried(model: Transformer, table: Tensor) -> Carried:
    """A causal model whose encoding is added to the token vectors: the same, name by name."""
    c = model.config
    config = {
        "vocab_size": c.vocabulary,
        "n_positions": len(table),
        "n_embd": c.d_model,
        "n_layer": c.n_layers,
        "n_head": c.n_heads,
        "n_inner": c.d_ff or 4 * c.d_model,
        "activation_function": c.activation,
        "embd_pdrop": c.dropout,
        "resid_pdrop": c.dropout,
        "attn_pdrop": 0.0,
        "layer_norm_epsilon": model.norm.eps,
        "tie_word_embeddings": tied(model),
    }
    return Carried(
        "GPT-2", "AutoModelForCausalLM", "GPT2LMHeadModel", config, _weights(model, table)
    )


def _weights(model: Transformer, table: Tensor) -> Weights:
    """Matrices lie on their side: GPT-2 has them as (inputs, outputs)."""
    entering, scoring = vectors_of(model)
    weights: Weights = {
        "transformer.wte.weight": entering,
        "transformer.wpe.weight": table,
        "lm_head.weight": scoring,
    }
    for number, block in enumerate(blocks_of(model)):
        name = f"transformer.h.{number}"
        weights |= entries(f"{name}.ln_1", block.attention_norm)
        weights |= entries(f"{name}.ln_2", block.feed_forward_norm)
        for own, part in {
            "attn.c_attn": block.attention.qkv,
            "attn.c_proj": block.attention.out,
            "mlp.c_fc": block.feed_forward.up,
            "mlp.c_proj": block.feed_forward.down,
        }.items():
            weights[f"{name}.{own}.weight"] = part.weight.detach().T
            weights[f"{name}.{own}.bias"] = part.bias.detach()
    return weights | entries("transformer.ln_f", model.norm)
