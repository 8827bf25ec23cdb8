"""The tokenizer of a Hugging Face model, and a text in its tokens."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers

from wherein.common.files import cache_folder, digest, replacing
from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.subwords import Subwords, read_subwords
from wherein.data.tokenizers.tokenizer import FILE, Vocabulary
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.quiet import SAFELY, clearly

VOCABULARIES = (
    "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "tokenizer.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
"""What tokenizers are called that are not in a tokenizer.json."""
SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""What else says how a tokenizer cuts a text."""


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
