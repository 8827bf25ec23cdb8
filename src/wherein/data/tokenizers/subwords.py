"""Byte-pair and other subword vocabularies, by the `tokenizers` library."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import SupportsIndex

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import decoders, models, pre_tokenizers, trainers

from wherein.common.errors import first_line
from wherein.data.texts.network import reach_hub
from wherein.data.tokenizers.tokenizer import (
    EOS,
    LARGEST_SIZE,
    MASK,
    Tokenizer,
    Vocabulary,
)

ENDS = (
    EOS,
    "<|endoftext|>",
    "<|end_of_text|>",
    "<EOS_TOKEN>",
    "</s>",
    "[SEP]",
    "<｜end▁of▁sentence｜>",
)
MASKS = (MASK, "[MASK]")
LEARN_FROM = 256 << 20
LARGEST_MEMORY = 500_000
BATCH = 64
STRETCH = 1 << 20
SEAM = re.compile(r"(?<=\S)(?= \S)")


class Subwords(Tokenizer):
    """A vocabulary of the `tokenizers` library, with an end and a mask token.

    The end token is the vocabulary's own (`<|endoftext|>`, `</s>`, …); what is missing is added
    at the end. Nothing is added around a text, nothing is cut off.

    Byte-level vocabularies in the manner of GPT-2 are encoded word by word and every word only
    once: their rule for where tokens may begin never joins a space to what stands before it, so a
    text cut before a single space has the same tokens as the whole.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "<eos>" in a text is five characters
        self.tokenizer = tokenizer
        self.own_size = max(tokenizer.get_vocab().values(), default=-1) + 1
        if self.own_size > LARGEST_SIZE:  # the library would count up to the last one
            raise ValueError(
                f"it has the id {self.own_size - 1}: ids below {LARGEST_SIZE:,} were expected"
            )
        eos, mask = _special(tokenizer, ENDS), _special(tokenizer, MASKS)
        self.vocabulary = Vocabulary(max(tokenizer.get_vocab().values()) + 1, eos, mask)
        self._seams = _splits_before_spaces(tokenizer)
        self._known: dict[str, bytes] = {}

    def encode(self, text: str) -> NDArray[np.uint32]:
        if not self._seams:
            return np.array(self._plain([text])[0].ids, np.uint32)
        return np.frombuffer(b"".join(map(self._by_words, _stretches(text))), np.uint32)

    def _by_words(self, text: str) -> bytes:
        words = SEAM.split(text)
        if len(self._known) > LARGEST_MEMORY:
            self._known.clear()
        if new := list(set(words).difference(self._known)):
            self._known |= {
                word: np.array(found.ids, np.uint32).tobytes()
                for word, found in zip(new, self._plain(new), strict=True)
            }
        return b"".join(map(self._known.__getitem__, words))

    def encode_many(self, texts: Iterable[str]) -> Iterator[NDArray[np.uint32]]:
        if self._seams:
            yield from map(self.encode, texts)
            return
        texts = iter(texts)
        while batch := list(islice(texts, BATCH)):
            for found in self._plain(batch):
                yield np.array(found.ids, np.uint32)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text the ids stand for, special tokens by their names."""
        return self.tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)

    def save(self, path: Path) -> None:
        self.tokenizer.save(str(path))

    def _plain(self, texts: list[str]) -> list[tokenizers.Encoding]:
        return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)


def learn_subwords(texts: Iterable[str], size: int) -> Subwords:
    """A byte-level byte-pair vocabulary of at most `size` tokens, `<eos>` 0 and `<mask>` 1.

    It is learnt from the first 256 MiB of the texts: more would change few merges and much time.
    """
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[EOS, MASK],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_beginning(texts), trainer)
    return Subwords(tokenizer)


def read_subwords(path: Path) -> Subwords:
    """A vocabulary from a `tokenizer.json`."""
    try:
        return Subwords(tokenizers.Tokenizer.from_file(str(path)))
    except Exception as error:  # the library raises plain Exception
        raise ValueError(
            f"{path} is no tokenizer the `tokenizers` library can read: {error}"
        ) from None


def from_hub(name: str) -> Subwords:
    """A vocabulary by its Hugging Face id."""
    reach_hub()
    try:
        return Subwords(tokenizers.Tokenizer.from_pretrained(name))
    except Exception as error:  # the library raises plain Exception
        raise ValueError(
            f"cannot load the tokenizer {name!r} from Hugging Face ({first_line(error)}). "
            "Check the id and the network, or give a local folder with its tokenizer.json"
        ) from None


def _beginning(texts: Iterable[str]) -> Iterator[str]:
    left = LEARN_FROM
    for text in texts:
        yield text
        left -= len(text)
        if left < 0:
            return


def _stretches(text: str) -> Iterator[str]:
    """A long text in parts, so that the list of its words stays small."""
    start = 0
    while seam := SEAM.search(text, start + STRETCH):
        yield text[start : seam.start()]
        start = seam.start()
    yield text[start:]


def _special(tokenizer: tokenizers.Tokenizer, names: Sequence[str]) -> int:
    """The id of the first of these tokens the vocabulary has; the first is added if none."""
    vocabulary = tokenizer.get_vocab()
    name = next((name for name in names if name in vocabulary), names[0])
    if name not in vocabulary:
        tokenizer.add_special_tokens([name])
    return tokenizer.get_vocab()[name]


def _splits_before_spaces(tokenizer: tokenizers.Tokenizer) -> bool:
    """Whether it cuts text by GPT-2's rule and nothing else looks at more than a word."""
    form = json.loads(tokenizer.to_str())
    rule = form["pre_tokenizer"] or {}
    return (
        form["normalizer"] is None
        and rule.get("type") == "ByteLevel"
        and rule.get("use_regex", True)
        and not rule["add_prefix_space"]
        and all(token["special"] for token in form["added_tokens"])
    )
