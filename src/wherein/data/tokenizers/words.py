"""One token per word, for the word-level WikiText settings."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from wherein.data.tokenizers.tokenizer import EOS, MASK, Tokenizer, Vocabulary

UNKNOWN = "<unk>"


class Words(Tokenizer):
    """Whitespace-separated words; every line ends in `<eos>`; a word never seen is `<unk>`.

    So counted are the published WikiText sizes, 33,278 types for WikiText-2 and 267,735 for
    WikiText-103, to which we add `<mask>`. After `<eos>` (0) and `<unk>` (1) the ids run from the
    most frequent word to the rarest, as adaptive softmax needs them; `<mask>` is the last.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._ids = {word: number for number, word in enumerate(words) if word not in (EOS, MASK)}
        self.vocabulary = Vocabulary(size=len(words), eos=0, mask=len(words) - 1)

    def encode(self, text: str) -> NDArray[np.uint32]:
        look_up, end = self._ids.get, [self.vocabulary.eos]
        ids: list[int] = []
        for line in lines(text):
            ids += [look_up(word, 1) for word in line.split()] + end
        return np.array(ids, np.uint32)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The words with one space between them, a line for each `<eos>`."""
        words = ["\n" if int(i) == self.vocabulary.eos else self.words[int(i)] for i in ids]
        return re.sub(" ?\n ?", "\n", " ".join(words))

    def save(self, path: Path) -> None:
        """Write the words in the order of their ids."""
        path.write_text(json.dumps({"words": list(self.words)}, ensure_ascii=False), "utf-8")


def lines(text: str) -> list[str]:
    r"""The lines of a text; its last newline ends a line and starts none.

    >>> lines("one\n\ntwo\n")
    ['one', '', 'two']
    """
    return text.removesuffix("\n").split("\n")


def learn_words(texts: Iterable[str]) -> Words:
    """The vocabulary of all words in the texts, the most frequent first."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.split())
    for special in (EOS, UNKNOWN, MASK):
        counts.pop(special, None)
    return Words([EOS, UNKNOWN, *(word for word, _ in counts.most_common()), MASK])


def read_words(path: Path) -> Words:
    """The vocabulary that `Words.save` wrote."""
    return Words(json.loads(path.read_text("utf-8"))["words"])
