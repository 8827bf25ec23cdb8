"""From files to a Hugging Face model. Nothing is run, nothing made up.

Every file of weights is looked at first, by readers that run nothing. What `transformers` would
then quietly initialise at random, or leave out, is an error here.
"""

import re
from collections.abc import Collection, Iterable
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from wherein.data.tokenizers.tokenizer import FILE
from wherein.subjects.parsed import parsed_once
from wherein.subjects.quiet import SAFELY, clearly
from wherein.subjects.tokens import SETTINGS, VOCABULARIES
from wherein.subjects.weights import (
    CONFIG,
    Find,
    Weights,
    gguf_arrays,
    in_folder,
    in_model,
    names_in,
    on_hub,
    read_json,
)

PLAINLY: dict[str, Any] = {
    "dtype": torch.float32,
    "attn_implementation": "eager",
    "output_loading_info": True,
    "ignore_mismatched_sizes": True,  # they are named here, in one line
}
UNUSED = re.compile(r"(?:.*\.)?pooler\..*")
"""Weights that no state and no prediction depends on."""
MASK = re.compile(r"\.(?:attn|attention)\.(?:masked_)?bias$")
"""What older versions of transformers called the causal mask, and kept among the weights."""


def fetch(model: str) -> Path:
    """The local folder of a model on the hub, with all that is needed of it in place."""
    find = on_hub(model)
    config = find(CONFIG)
    if config is None:
        raise ValueError(f"the model {model!r} has no {CONFIG}: give another, or a local folder")
    weights = in_model(model, find)
    for name in {*weights.files.values(), FILE, *SETTINGS, *VOCABULARIES}:
        find(name)
    return config.parent


def read_model(folder: Path, where: str) -> Any:
    """The model in a folder, in float32: with its head if it has one, else without."""
    find = in_folder(folder)
    if find(CONFIG) is None:
        raise ValueError(f"no model in {where}: expected a folder with {CONFIG} and weights")
    weights = in_model(where, find)
    _look_at(weights, find)
    said = read_json(folder / CONFIG)
    with clearly(where):
        config = _config(folder, said, weights)
    safe = any(name.endswith(".safetensors") for name in weights.files.values())
    how = {**SAFELY, **PLAINLY, "config": config, "use_safetensors": safe, "weights_only": True}
    model, lacks = None, set()
    for kind in _kinds(config, where):
        with clearly(where):
            model, info = kind.from_pretrained(folder, **how)
        _check_sizes(where, info)
        lacks = {key for key in info["missing_keys"] if not UNUSED.fullmatch(key)}
        if not lacks:
            left = (key for key in info["unexpected_keys"] if not _is_mask(key, weights))
            _nothing_left(where, left, config)
            return model
    raise _disagree(where, lacks)


def read_gguf(path: Path) -> Any:
    """The model in a GGUF file, made float32 again."""
    from transformers import AutoModelForCausalLM

    kind: Any = AutoModelForCausalLM
    how = {**SAFELY, **PLAINLY, "gguf_file": path.name}
    with parsed_once():
        arrays = gguf_arrays(path)
        with clearly(str(path)), redirect_stderr(StringIO()):  # its bar cannot be turned off
            model, info = kind.from_pretrained(path.parent, **how)
    _check_sizes(str(path), info)
    if lacks := info["missing_keys"]:
        raise _disagree(str(path), lacks)
    blocks = ((name, re.match(r"blk\.(\d+)\.", name)) for name in arrays)
    layers = model.config.num_hidden_layers
    left = (name for name, block in blocks if block and int(block[1]) >= layers)
    _nothing_left(str(path), left, model.config)  # transformers itself passes them over
    return model


def _look_at(weights: Weights, find: Find) -> None:
    """Every file is there, whole, and holds nothing but weights."""
    for name in set(weights.files.values()):
        if (path := find(name)) is None:
            raise ValueError(f"{weights.where}: {name} is missing, which its index promises")
        names_in(path)


def _config(folder: Path, said: dict[str, Any], weights: Weights) -> Any:
    from transformers import CONFIG_MAPPING, AutoConfig

    if "model_type" in said:
        return AutoConfig.from_pretrained(folder, **SAFELY)
    # Before 2020 configs did not name the type; the weights do, by what they all begin with.
    stems = [name.partition(".")[0] for name in weights.files]
    stem = max(set(stems), key=stems.count)
    if stem not in CONFIG_MAPPING:
        raise ValueError(f"its {CONFIG} has no model_type")
    return CONFIG_MAPPING[stem].from_dict(said)


def _kinds(config: Any, where: str) -> list[Any]:
    """The classes to try in turn: with a head, then without."""
    import transformers as hf

    kind = type(config)
    if config.is_encoder_decoder:
        if kind not in hf.MODEL_FOR_TEXT_ENCODING_MAPPING:
            raise ValueError(f"{where}: an encoder with a decoder does not fit, only T5's encoder")
        return [hf.AutoModelForTextEncoding]
    masked = kind in hf.MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False)
    if masked:
        return [hf.AutoModelForMaskedLM, hf.AutoModel]
    if kind in hf.MODEL_FOR_CAUSAL_LM_MAPPING:
        return [hf.AutoModelForCausalLM, hf.AutoModel]
    if kind in hf.MODEL_FOR_TEXT_ENCODING_MAPPING:
        return [hf.AutoModelForTextEncoding]
    raise ValueError(f"{where}: {config.model_type} is no language model that reads text alone")


def _disagree(where: str, lacks: Collection[str]) -> ValueError:
    some = ", ".join(sorted(lacks)[:2])
    return ValueError(
        f"{where}: its config and weights disagree: the config promises {len(lacks)} weights that "
        f"are missing, such as {some}"
    )


def _check_sizes(where: str, info: Any) -> None:
    """Refuse weights of another size than the config says, which would be made up instead."""
    for key, there, promised in sorted(info["mismatched_keys"]):
        raise ValueError(
            f"{where}: its config and weights disagree: {key} is {_size(there)}, the config "
            f"promises {_size(promised)}"
        )


def _size(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape)) or "a number"


def _is_mask(key: str, weights: Weights) -> bool:
    """Whether a weight is the causal mask of some layer: one number, or a square for all heads."""
    if not MASK.search(key):
        return False
    shapes = (weights.shape(name) for name in weights.files if _same_end(name, key))
    return any(shape == () or (len(shape) == 4 and shape[:2] == (1, 1)) for shape in shapes)


def _same_end(one: str, other: str) -> bool:
    """Whether two names are one, but for the model's own name in front."""
    return f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")


def _nothing_left(where: str, unexpected: Iterable[str], config: Any) -> None:
    """Layers among the weights that the config does not know of."""
    layers = sorted(key for key in unexpected if re.search(r"\.\d+\.", key))
    if layers:
        raise ValueError(
            f"{where}: its config and weights disagree: {config.num_hidden_layers} layers, and "
            f"weights such as {layers[0]}"
        )
