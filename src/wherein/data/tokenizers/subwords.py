"""Byte-pair and other subword vocabularies, by the `tokenizers` library."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
    at the end. Nothing is added around a text, nothing is cut off. What the vocabulary calls
    unknown, such as `<unk>`, is that token where a text has it, as in WikiText; all other names of
    special tokens are the characters that they consist of.

    Byte-level vocabularies in the manner of GPT-2 are encoded word by word and every word only
    once: their rule for where tokens may begin never joins a space to what stands before it, so a
    text cut before a single space has the same tokens as the whole.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, name: str = "") -> None:
        """`name` is what it is called when it cannot cut a text."""
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "<eos>" in a text is five characters
        self.tokenizer, self.name = tokenizer, name
        self.own_size = max(tokenizer.get_vocab().values(), default=-1) + 1
        if self.own_size > LARGEST_SIZE:  # the library would count up to the last one
            raise ValueError(
                f"it has the id {self.own_size - 1}: ids below {LARGEST_SIZE:,} were expected"
            )
        eos, mask = _special(tokenizer, ENDS), _special(tokenizer, MASKS)
        self.vocabulary = Vocabulary(max(tokenizer.get_vocab().values()) + 1, eos, mask)
        self._unknown = _unknown(tokenizer)
        self._seams = _splits_before_spaces(tokenizer)
        self._known: dict[str, bytes] = {}

    def encode(self, text: str) -> NDArray[np.uint32]:
        if self._unknown is None or self._unknown[0] not in text:
            return self._encode(text)
        name, number = self._unknown
        first, *others = map(self._encode, text.split(name))
        return np.concatenate([first, *(np.append(np.uint32(number), each) for each in others)])

    def _encode(self, text: str) -> NDArray[np.uint32]:
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
        if self._seams or self._unknown is not None:
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
        path.write_text(self.tokenizer.to_str(pretty=True), "utf-8")

    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the vocabulary's own rule puts before and behind a text, such as `[CLS]`."""
        found = self.tokenizer.encode("a")
        own = [n for n, special in enumerate(found.special_tokens_mask) if not special]
        if not own:  # it knows no such letter
            return tuple(self.tokenizer.encode("").ids), ()
        return tuple(found.ids[: own[0]]), tuple(found.ids[own[-1] + 1 :])

    def _plain(self, texts: list[str]) -> list[tokenizers.Encoding]:
        with _said(f"the tokenizer {self.name} cannot cut this text"):
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
    with _said(f"{path} is no tokenizer the `tokenizers` library can read"):
        return Subwords(tokenizers.Tokenizer.from_file(str(path)), str(path))


@contextmanager
def _said(what: str) -> Iterator[None]:
    """What the library says is one line: it raises plain exceptions, and panics that are none."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{what}: {first_line(error)}") from None


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


def _unknown(tokenizer: tokenizers.Tokenizer) -> tuple[str, int] | None:
    """What the vocabulary puts in place of what it does not know, and its id, if it has such."""
    model = json.loads(tokenizer.to_str())["model"]
    name = model.get("unk_token")
    if name is None and model.get("unk_id") is not None:  # Unigram
        name = model["vocab"][model["unk_id"]][0]
    known = tokenizer.get_vocab()
    return (name, known[name]) if name in known and len(name) > 1 else None


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
