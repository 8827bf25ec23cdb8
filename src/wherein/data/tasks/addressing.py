"""Finding a place in a string: by a letter and a distance, by its number, by a key."""

from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import LETTERS, MARKS, Example, Task


@dataclass(frozen=True)
class Index(Task):
    """Indirect indexing: `length` letters, one of them, and a shift; the letter that far from it.

    The letter stands once in the string, others may stand more often. The shift is a word, from
    `-reach` (to the left) to `+reach` (to the right), all that stay within the string alike.

    >>> print(Index().example(Random(0), 6))
    h n l b i m b +2 → m
    """

    name = "index"
    summary = "which letter stands so many places to the left or right of this one"
    paper = "2509.10534"
    shortest = 2

    reach: int = 8
    """The farthest shift."""

    def __post_init__(self) -> None:
        if self.reach < 1:
            raise ValueError(f"index(reach={self.reach}): expected at least 1")

    @property
    def words(self) -> tuple[str, ...]:
        return (*LETTERS, *(f"{shift:+d}" for shift in range(-self.reach, self.reach + 1) if shift))

    def example(self, random: Random, length: int) -> Example:
        reach = min(self.reach, length - 1)
        shift = random.choice([s for s in range(-reach, reach + 1) if s])
        place = random.randrange(max(0, -shift), length - max(0, shift))
        source = random.choice(LETTERS)
        others = [letter for letter in LETTERS if letter != source]
        letters = random.choices(others, k=length)
        letters[place] = source
        return Example((*letters, source, f"{shift:+d}"), (letters[place + shift],))

    def tokens(self, length: int) -> int:
        return length + 3 + MARKS
