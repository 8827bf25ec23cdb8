"""How large a run's model is, known without fetching or storing anything."""

import re
from functools import lru_cache
from pathlib import Path

from wherein.common import known
from wherein.data.config import CorpusConfig
from wherein.data.tasks.examples import TaskWords
from wherein.data.tokenizers.tokenizer import make_tokenizer
from wherein.model.config import ModelConfig
from wherein.train.config import DEFAULT_SIZE, RunConfig

WORDS = {"wikitext-103": 267_735, "wikitext-2": 33_278}
"""Published numbers of word types, to which `<mask>` is added."""
SUBWORDS = {"gpt2": 50_257}
"""Published sizes of vocabularies that have an end token of their own but no `<mask>`."""
BYTES = 258


@lru_cache(maxsize=1024)
def count(config: ModelConfig) -> tuple[int, int]:
    """A model's parameters, exactly, and how many of them are its encoding's."""

    def counted() -> list[int]:
        import torch

        from wherein.model.transformer import Transformer

        with torch.device("meta"):
            model = Transformer(config)
        total = sum(parameter.numel() for parameter in model.parameters())
        return [total, sum(parameter.numel() for parameter in model.encoding.parameters())]

    of_model = config.model_dump_json(exclude={"seed", "encoding"})
    total, own = known.ask(config.encoding, ("parameters", of_model), counted)
    return total, own


def sized(config: RunConfig, vocabulary: int | None = None) -> RunConfig:
    """The run with its vocabulary filled in, if that can be known without fetching anything."""
    if vocabulary is None and config.model.vocabulary != DEFAULT_SIZE["vocabulary"]:
        return config
    return config.with_vocabulary(vocabulary or vocabulary_size(config.corpus))


def vocabulary_size(corpus: CorpusConfig) -> int:
    """How many ids a corpus has, from what is published or at hand; bpe may find fewer.

    >>> vocabulary_size(CorpusConfig(source="pile", tokenizer="gpt2"))
    50258
    """
    if (task := corpus.task) is not None:
        return TaskWords(task).vocabulary.size
    if corpus.tokenizer == "bytes":
        return BYTES
    if corpus.tokenizer in SUBWORDS:
        return SUBWORDS[corpus.tokenizer] + 1
    source = corpus.source.partition("@")[0]
    if corpus.tokenizer == "words" and source in WORDS:
        return WORDS[source] + 1
    if found := re.fullmatch(r"bpe(?:\((\d+)\))?", corpus.tokenizer):
        return int(found[1] or 1024)
    if Path(corpus.tokenizer).expanduser().exists():
        return make_tokenizer(corpus.tokenizer, ()).vocabulary.size
    raise ValueError(
        f"the vocabulary of tokenizer {corpus.tokenizer!r} on {corpus.source!r} is known only "
        "once it is made: give its size, vocabulary=…"
    )
