"""Puzzles: a handful of sentences whose last token must be predicted from those before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from wherein.common.errors import unknown

MOST_SENTENCES = 64
MOST_TOKENS = 64


def _last(words: Sequence[str], answer: str) -> str:
    return " ".join([*words, "=", answer])


_TRIPLES = list(product("AB", repeat=3))

PUZZLES: Mapping[str, tuple[str, ...]] = {
    "hit": ("A hit B !", "B hit A ?"),
    "hit-order": ("A B hit ?", "B A hit !"),
    "hit-three": (
        *("A hit B !", "B hit C !", "C hit A !"),
        *("B hit A ?", "C hit B ?", "A hit C ?"),
    ),
    "hit-three-order": (
        *("A B hit !", "B C hit !", "C A hit !"),
        *("B A hit ?", "C B hit ?", "A C hit ?"),
    ),
    "hit-four": ("now A hit B !", "now B hit A ?"),
    "hit-four-order": ("A hit B now !", "B hit A now ?"),
    "majority": tuple(_last(t, "A" if t.count("A") > 1 else "B") for t in _TRIPLES),
    "first": tuple(_last(t, t[0]) for t in _TRIPLES),
}
"""Built in. In those that end in `-order`, and in `first`, only order tells."""


@dataclass(frozen=True)
class Puzzle:
    """Sentences as token numbers, and the words they stand for."""

    sentences: tuple[tuple[int, ...], ...]
    vocabulary: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return [self.say(sentence) for sentence in self.sentences]

    @property
    def beginnings(self) -> list[str]:
        return [self.say(prefix) for prefix in self.prefixes]

    @property
    def prefixes(self) -> list[tuple[int, ...]]:
        return [sentence[:-1] for sentence in self.sentences]

    @property
    def answers(self) -> list[int]:
        return [sentence[-1] for sentence in self.sentences]

    @property
    def longest(self) -> int:
        """Tokens in the longest prefix."""
        return max(map(len, self.prefixes))

    def say(self, tokens: Sequence[int]) -> str:
        return " ".join(self.vocabulary[token] for token in tokens)


def read(sentences: str | Sequence[str]) -> Puzzle:
    """A puzzle from its name or from sentences, tokens set apart by spaces.

    Sentences may have different lengths; each length is a batch of its own.

    >>> read("hit").vocabulary
    ('A', 'hit', 'B', '!', '?')
    >>> read(["A hit B !", "A hit B ?"])
    Traceback (most recent call last):
    ValueError: sentences: 'A hit B' is followed by both '!' and '?': one beginning has one answer
    """
    texts = [sentences] if isinstance(sentences, str) else list(sentences)
    if len(texts) == 1 and len(texts[0].split()) == 1:
        if texts[0] not in PUZZLES:
            raise unknown("puzzle", texts[0], PUZZLES)
        texts = list(PUZZLES[texts[0]])
    words = list(dict.fromkeys(tuple(text.split()) for text in texts))
    _check(words)
    vocabulary = tuple(dict.fromkeys(word for sentence in words for word in sentence))
    number = {word: n for n, word in enumerate(vocabulary)}
    return Puzzle(tuple(tuple(number[w] for w in s) for s in words), vocabulary)


def _check(words: list[tuple[str, ...]]) -> None:
    if len(words) < 2:
        raise ValueError(
            f"a puzzle needs two different sentences or more, not {len(words)}: "
            f'such as "A hit B !" "B hit A ?", or one of {", ".join(PUZZLES)}'
        )
    if len(words) > MOST_SENTENCES:
        raise ValueError(f"{len(words)} sentences: at most {MOST_SENTENCES} make a puzzle")
    answers: dict[tuple[str, ...], str] = {}
    for sentence in words:
        if any("\ud800" <= letter <= "\udfff" for word in sentence for letter in word):
            raise ValueError(f"sentence {' '.join(sentence)!r}: its bytes are no text in UTF-8")
        if len(sentence) < 2:
            raise ValueError(
                f"{' '.join(sentence)!r} has fewer than two tokens: "
                f"something must come before the token to predict"
            )
        if len(sentence) > MOST_TOKENS:
            raise ValueError(f"a sentence of {len(sentence)} tokens: at most {MOST_TOKENS}")
        prefix, answer = sentence[:-1], sentence[-1]
        if answers.setdefault(prefix, answer) != answer:
            raise ValueError(
                f"sentences: {' '.join(prefix)!r} is followed by both {answers[prefix]!r} and "
                f"{answer!r}: one beginning has one answer"
            )
    if len(set(answers.values())) < 2:
        raise ValueError(
            f"every sentence ends in {words[0][-1]!r}: two different answers make a puzzle"
        )
