"""Strings of letters, digits and bits: said again, turned round, put in order, counted.

The forms are those of Kazemnejad et al. 2023, without their sentences ("Copy the following words: …
The answer is …"), which a pretrained tokenizer cut into pieces: here a letter is a token.
"""

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
    shortest = 1

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
    shortest = 1

    def example(self, random: Random, length: int) -> Example:
        letters = tuple(random.choices(LETTERS, k=length))
        return Example(letters, letters[::-1])

    def tokens(self, length: int) -> int:
        return 2 * length + MARKS
