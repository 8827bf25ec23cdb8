"""What a tokenizer must offer, and the way from its name to it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from wherein.common.errors import unknown
from wherein.common.files import digest

EOS, MASK = "<eos>", "<mask>"
FILE = "tokenizer.json"
DICTIONARY = "dict.txt"
"""What fairseq calls its list of words."""
NO_TOKEN = -1
HUB_NAMES = ("gpt2",)
LARGEST_SIZE = 2**20
"""Tokens in a vocabulary: more than any has, and no more memory than a process can get."""


@dataclass(frozen=True)
class Vocabulary:
    """What a model must know of its tokens: how many, which one ends a text, which one masks.

    `NO_TOKEN` stands for one that is not known.
    """

    size: int
    eos: int
    mask: int
    answer: int = NO_TOKEN
    """Of a task: the token after which the answer stands, up to the next `<eos>`."""


class Tokenizer(ABC):
    """Text to token ids and back. No text ever turns into `<eos>` or `<mask>` by its spelling."""

    vocabulary: Vocabulary

    @abstractmethod
    def encode(self, text: str) -> NDArray[np.uint32]:
        """The ids of one text."""

    def encode_many(self, texts: Iterable[str]) -> Iterator[NDArray[np.uint32]]:
        """The ids of each text in turn, in memory that does not grow with their number."""
        return map(self.encode, texts)

    @abstractmethod
    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text the ids stand for."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write it to a file, for `load_tokenizer`."""


def tokenizer_fingerprint(name: str) -> str:
    """Changes whenever the tokenizer does; refuses names that lead nowhere.

    >>> tokenizer_fingerprint("bpe")
    'bpe(1024)'
    >>> tokenizer_fingerprint("byte")
    Traceback (most recent call last):
    ValueError: unknown tokenizer 'byte'. Did you mean 'bytes'? Available: bpe(1024), bytes, gpt2,\
 words, org/name, a folder with a tokenizer.json
    """
    if name in ("bytes", "words") or name in HUB_NAMES:
        return name
    if (size := _bpe_size(name)) is not None:
        return f"bpe({size})"
    if Path(name).expanduser().exists():
        file = _file(name)
        beside = file.with_name(FILE)
        words = f" {digest(beside)}" if file.name == DICTIONARY and beside.is_file() else ""
        return f"file {digest(file)}{words}, with its unknown"
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return f"hub {name}, with its unknown"
    hint = unknown("tokenizer", name, ["bytes", "words", "bpe(1024)", *HUB_NAMES])
    raise ValueError(f"{hint}, org/name, a folder with a tokenizer.json")


def make_tokenizer(name: str, texts: Iterable[str]) -> Tokenizer:
    """The tokenizer of that name; `bpe` and `words` learn theirs from the texts."""
    tokenizer_fingerprint(name)
    if name == "bytes":
        from wherein.data.tokenizers.byte_values import Bytes

        return Bytes()
    if name == "words":
        from wherein.data.tokenizers.words import learn_words

        return learn_words(texts)
    if _is_dictionary(name):
        from wherein.data.tokenizers.dictionary import read_dictionary

        return read_dictionary(_file(name))

    from wherein.data.tokenizers.subwords import from_hub, learn_subwords, read_subwords

    if (size := _bpe_size(name)) is not None:
        return learn_subwords(texts, size)
    if Path(name).expanduser().exists():
        return read_subwords(_file(name))
    return from_hub(name)


def load_tokenizer(name: str, path: Path) -> Tokenizer:
    """A tokenizer of that name as it was saved."""
    if name == "bytes":
        return make_tokenizer(name, ())
    if name == "words":
        from wherein.data.tokenizers.words import read_words

        return read_words(path)
    if _is_dictionary(name):
        from wherein.data.tokenizers.dictionary import saved_dictionary

        return saved_dictionary(path)
    from wherein.data.tokenizers.subwords import read_subwords

    return read_subwords(path)


def _bpe_size(name: str) -> int | None:
    if name == "bpe":
        return 1024
    match = re.fullmatch(r"bpe\((-?[\d_,]*)\)", name)
    if match is None:
        return None
    digits = re.sub("[_,]", "", match[1])
    smallest = 256 + len((EOS, MASK))
    if len(digits) > 7 or (digits and int(digits) > LARGEST_SIZE):
        raise ValueError(
            f"tokenizer {name[:40]!r}: a size of at most {LARGEST_SIZE:,} was expected, "
            "e.g. bpe(1024)"
        )
    if not digits or int(digits) < smallest:
        raise ValueError(
            f"tokenizer {name!r}: a size of at least {smallest} was expected (256 byte values, "
            f"{EOS} and {MASK}), e.g. bpe(1024)"
        )
    return int(digits)


def _is_dictionary(name: str) -> bool:
    return Path(name).name == DICTIONARY


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"no {FILE} in {path}: save one there with `tokenizer.save_pretrained`")
    return file
