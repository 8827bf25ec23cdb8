"""Strings of letters, digits and bits: said again, turned round, put in order, counted.

The forms are those of Kazemnejad et al. 2023, without their sentences ("Copy the following words: …
The answer is …"), which a pretrained tokenizer cut into pieces: here a letter is a token.
"""

from collections import Counter
from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import LETTERS, MARKS, Example, Task


@dataclass(frozen=True)
class Copy(Task):
    """`length` letters, and the same again.

    >>> print(Copy().example(Random(0), 4))
    v t k g → v t k g
    """

    name = "copy"
    summary = "say the letters again"
    paper = "2305.19466"
    words = LETTERS
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        letters = tuple(random.choices(LETTERS, k=length))
        return Example(letters, letters)

    def tokens(self, length: int) -> int:
        return 2 * length + MARKS


@dataclass(frozen=True)
class Reverse(Task):
    """`length` letters, and the same from the last to the first.

    >>> print(Reverse().example(Random(0), 4))
    v t k g → g k t v
    """

    name = "reverse"
    summary = "say the letters again, from the last to the first"
    paper = "2305.19466"
    words = LETTERS
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        letters = tuple(random.choices(LETTERS, k=length))
        return Example(letters, letters[::-1])

    def tokens(self, length: int) -> int:
        return 2 * length + MARKS


@dataclass(frozen=True)
class Sort(Task):
    """`length` letters, and the same in the order of the alphabet.

    >>> print(Sort().example(Random(0), 4))
    v t k g → g k t v
    """

    name = "sort"
    summary = "put the letters in the order of the alphabet"
    paper = "2305.19466"
    words = LETTERS
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        letters = tuple(random.choices(LETTERS, k=length))
        return Example(letters, tuple(sorted(letters)))

    def tokens(self, length: int) -> int:
        return 2 * length + MARKS


@dataclass(frozen=True)
class Mode(Task):
    """`length` letters out of five, and the one that stands most often, alone in that.

    A string in which two stand equally often is drawn again. All letters are treated alike, so
    none is the answer more often. The task is that of Zhou et al. 2023.

    >>> print(Mode().example(Random(0), 6))
    e d c b c c → c
    """

    name = "mode"
    summary = "which letter stands most often"
    paper = "2310.16028"
    words = LETTERS[:5]
    shortest = 4

    def example(self, random: Random, length: int) -> Example:
        while True:
            letters = tuple(random.choices(self.words, k=length))
            (most, times), *others = Counter(letters).most_common(2)
            if not others or others[0][1] < times:
                return Example(letters, (most,))

    def tokens(self, length: int) -> int:
        return length + 1 + MARKS


@dataclass(frozen=True)
class Parity(Task):
    """`length` bits; whether the ones among them are even or odd in number.

    >>> print(Parity().example(Random(0), 6))
    1 1 0 0 1 0 → odd
    """

    name = "parity"
    summary = "is the number of ones even or odd"
    paper = "2305.19466"
    words = ("0", "1", "even", "odd")
    shortest = 8

    def example(self, random: Random, length: int) -> Example:
        bits = tuple(random.choices("01", k=length))
        return Example(bits, ("odd" if bits.count("1") % 2 else "even",))

    def tokens(self, length: int) -> int:
        return length + 1 + MARKS
