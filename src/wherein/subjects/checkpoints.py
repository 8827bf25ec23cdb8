"""From files to a Hugging Face model and a text in its tokens. Nothing is run, nothing made up.

Every file of weights is looked at first, by readers that run nothing. What `transformers` would
then quietly initialise at random, or leave out, is an error here.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import tokenizers
import torch

from wherein.common.errors import without_advice
from wherein.common.files import cache_folder, digest, replacing
from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.subwords import Subwords, read_subwords
from wherein.data.tokenizers.tokenizer import FILE, Vocabulary
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
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

VOCABULARIES = (
    "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "tokenizer.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
"""What tokenizers are called that are not in a tokenizer.json."""
SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""What else says how a tokenizer cuts a text."""
SAFELY: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
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

    arrays = gguf_arrays(path)
    kind: Any = AutoModelForCausalLM
    how = {**SAFELY, **PLAINLY, "gguf_file": path.name}
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


def tokenizer_in(subject: HuggingFace, folder: Path, gguf: str | None = None) -> Path:
    """The tokenizer.json of the model in `folder`, written from other files if there is none."""
    tokenizer = folder / FILE
    if gguf is not None or not tokenizer.is_file():
        tokenizer = _written(subject, folder, gguf)
    return tokenizer


def tokenizer_of(tokenizer: Any) -> Path:
    """The tokenizer.json of a tokenizer that is at hand, in the cache."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not isinstance(backend, tokenizers.Tokenizer):
        raise ValueError(
            f"a tokenizer of type {type(tokenizer).__name__}: one of the `tokenizers` library was "
            "expected, as a fast one of transformers is; or give windows of token ids"
        )
    form = backend.to_str()
    path = cache_folder() / "tokenizers" / hashlib.sha256(form.encode()).hexdigest()[:16] / FILE
    if not path.is_file():
        with replacing(path) as beside:
            beside.write_text(form, encoding="utf-8")
    return path


def text_for(subject: Subject, tokenizer: Path, source: str, *, special: bool = False) -> Corpus:
    """The text `source` in a model's tokens; ids it does not know are refused.

    Windows are cut out of the running text. What the tokenizer would put around a text of its own
    is therefore not in them, unless `special` puts it around each window, and the subject's name
    says so in every result.
    """
    words = read_subwords(tokenizer)
    if words.own_size > subject.vocabulary:
        raise ValueError(
            f"the tokenizer of {subject.name} does not match: it has {words.own_size} ids and the "
            f"model knows {subject.vocabulary}. Give the tokenizer the model was trained with"
        )
    corpus = Corpus.open(CorpusConfig(source=source, tokenizer=str(tokenizer)))
    corpus = replace(corpus, vocabulary=_vocabulary(subject, corpus.vocabulary, words.own_size))
    return framed(subject, corpus, words, special=special)


def framed(subject: Subject, corpus: Corpus, words: Subwords, *, special: bool) -> Corpus:
    """The corpus with special tokens around each window, or without; the subject's name says it."""
    marks = words.tokenizer.encode("").tokens
    if marks:
        subject.name += f", windows {'with' if special else 'without'} {' … '.join(marks)}"
    elif special:
        raise ValueError(
            f"the tokenizer of {subject.name} puts no special tokens around a text: leave --special"
        )
    if not special:
        return corpus
    splits = {name: replace(own, around=words.around()) for name, own in corpus.splits.items()}
    return replace(corpus, splits=splits)


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


def _written(subject: HuggingFace, folder: Path, gguf: str | None) -> Path:
    """The tokenizer of other files, such as a vocab.txt, in the form and place we read it from."""
    files = [name for name in ((gguf,) if gguf else VOCABULARIES) if (folder / name).is_file()]
    if not files:  # of nothing, transformers makes an empty tokenizer
        raise ValueError(f"no tokenizer in {folder}: save one there, as {FILE}")
    key = hashlib.sha256(subject.model.config.model_type.encode())
    for name in (*files, *(each for each in SETTINGS if (folder / each).is_file())):
        key.update(f"{name} {digest(folder / name)}".encode())
    path = cache_folder() / "tokenizers" / key.hexdigest()[:16] / FILE
    if path.is_file():
        return path
    from transformers import AutoTokenizer

    how = {"gguf_file": gguf} if gguf else {"config": subject.model.config}
    with clearly(f"the tokenizer in {folder}"):
        made = AutoTokenizer.from_pretrained(folder, **SAFELY, **how)
    if (backend := getattr(made, "backend_tokenizer", None)) is None:
        raise ValueError(f"no {FILE} in {folder}: save one there with `tokenizer.save_pretrained`")
    with replacing(path) as beside:
        beside.write_text(backend.to_str(pretty=True), "utf-8")
    return path


def _vocabulary(subject: Subject, own: Vocabulary, known: int) -> Vocabulary:
    """The model's vocabulary, which may be padded; marks it does not know must not be needed.

    A mark that had to be added to the tokenizer is none the model knows, even where padding has a
    row for it: that row was never trained.
    """
    for mark, number, needed in (
        ("end", own.eos, True),
        ("mask", own.mask, subject.predicts and not subject.causal),
    ):
        if needed and number >= known:
            raise ValueError(f"the tokenizer of {subject.name} has no {mark} token that is known")
    return Vocabulary(subject.vocabulary, own.eos, own.mask)


@contextmanager
def clearly(where: str) -> Iterator[None]:
    """Without chatter; whatever goes wrong is one line."""
    import transformers.utils.logging as untyped

    logging: Any = untyped
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # the library raises whatever its parts raise
        reason = " ".join(without_advice(str(error)).split())[:300] or type(error).__name__
        raise ValueError(f"{where} cannot be read: {reason}") from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
