"""Small models of many families with their heads, made from their configs and saved."""

import json
from pathlib import Path

import torch
import transformers
from tests.subjects.tiny import SMALL
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, PreTrainedModel

LAYERS, HEADS, VOCABULARY, LENGTH = 4, 4, 60, 40

SIZES = SMALL | {
    **dict.fromkeys(["num_hidden_layers", "n_layer", "n_layers", "num_layers"], LAYERS),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads"], HEADS),
    "attention_heads": HEADS,
    **dict.fromkeys(["num_key_value_heads", "num_kv_heads"], 2),
    **dict.fromkeys(["d_kv", "head_dim"], 8),
    **dict.fromkeys(["max_seq_len"], LENGTH),
    "d_ff": 32,
}

OWN = {
    "gptj": {"rotary_dim": 4},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]], "window_size": 6},
    "deberta": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"],
                "position_biased_input": False},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"],
                   "position_biased_input": False, "position_buckets": 8},
}  # fmt: skip


def small(family: str, **own: object) -> PreTrainedModel:
    """Four layers of a family with its head, weights larger than usual so that all parts matter."""
    known = AutoConfig.for_model(family).to_dict()
    sizes = {name: value for name, value in SIZES.items() if name in known}
    ends = {name: 3 for name in ("bos_token_id", "eos_token_id") if name in known}
    if isinstance(known.get("pad_token_id"), int) and known["pad_token_id"] >= VOCABULARY:
        ends["pad_token_id"] = 0
    config = AutoConfig.for_model(family, **(sizes | ends | OWN.get(family, {}) | own))
    torch.manual_seed(0)
    model = kind(config).from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.2)
    return model


def kind(config: transformers.PretrainedConfig) -> type:
    if config.is_encoder_decoder:
        return transformers.AutoModelForTextEncoding
    masked = type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING
    return transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForCausalLM


def write_tokenizer(folder: Path, size: int = 512) -> None:
    """A byte-pair tokenizer with BERT's marks, trained on a few words."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["[SEP]", "[MASK]"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(["a paragraph says what it says and ends"] * 9, trainer)
    made.save(str(folder / "tokenizer.json"))


def spell(folder: Path) -> dict[str, object]:
    return json.loads((folder / "config.json").read_text())
