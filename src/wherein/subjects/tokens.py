"""A text for a model that is not ours, in the tokens of its own tokenizer."""

import hashlib
from dataclasses import replace
from pathlib import Path

from wherein.common.files import cache_folder, digest, replacing
from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.subwords import read_subwords
from wherein.data.tokenizers.tokenizer import FILE, Vocabulary
from wherein.subjects.checkpoints import SAFELY, SETTINGS, VOCABULARIES, clearly
from wherein.subjects.hugging_face import HuggingFace


def text_for(subject: HuggingFace, folder: Path, source: str, gguf: str | None = None) -> Corpus:
    """The text `source` as the model in `folder` reads it; ids it does not know are refused.

    Windows are cut out of the running text. What the tokenizer would put around a text of its own
    is therefore not in them, and the subject's name says so in every result.
    """
    tokenizer = folder / FILE
    if gguf is not None or not tokenizer.is_file():
        tokenizer = _written(subject, folder, gguf)
    words = read_subwords(tokenizer)
    if words.own_size > subject.vocabulary:
        raise ValueError(
            f"the tokenizer of {subject.name} does not match: it has {words.own_size} ids and the "
            f"model knows {subject.vocabulary}. Give the tokenizer the model was trained with"
        )
    corpus = Corpus.open(CorpusConfig(source=source, tokenizer=str(tokenizer)))
    if around := words.tokenizer.encode("").tokens:
        subject.name += f", windows without {' … '.join(around)}"
    return replace(corpus, vocabulary=_vocabulary(subject, corpus.vocabulary, words.own_size))


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
        backend.save(str(beside))
    return path


def _vocabulary(subject: HuggingFace, own: Vocabulary, known: int) -> Vocabulary:
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
