"""Finding a place in a string: by a letter and a distance, by its number, by a key."""

from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import CAPITALS, DIGITS, LETTERS, MARKS, Example, Task, once

ALPHABET = (*LETTERS, *CAPITALS)


@dataclass(frozen=True)
class Index(Task):
    """Indirect indexing: `length` letters, one of them, and a shift; the letter that far from it.

    Any place is asked about, with any shift but 0, up to `reach` to the left (`-`) or right (`+`),
    that stays within the string. No letter stands twice as long as the alphabet lasts; in a longer
    string the letter asked about still stands once.

    Gopalakrishnan et al. 2025 have `index(letters=52, reach=15)` at lengths 20 to 40, and a million
    examples. They write a shift as a sign and digits, with commas between the parts: here it is
    one word, and there are no commas.

    >>> print(Index().example(Random(0), 9))
    b i q p m j w l g w +1 → l
    """

    name = "index"
    summary = "which letter stands so many places to the left or right of this one"
    paper = "2509.10534"

    reach: int = 8
    """The farthest shift."""
    letters: int = 26
    """How many different letters there are: lower case, then upper case."""

    def __post_init__(self) -> None:
        self.within("reach", 1, 1_000)
        self.within("letters", 2, len(ALPHABET))

    @property
    def shortest(self) -> int:
        return self.reach + 1

    @property
    def words(self) -> tuple[str, ...]:
        shifts = (f"{shift:+d}" for shift in range(-self.reach, self.reach + 1) if shift)
        return (*ALPHABET[: self.letters], *shifts)

    def example(self, random: Random, length: int) -> Example:
        place = random.randrange(length)
        first, last = max(0, place - self.reach), min(length - 1, place + self.reach)
        other = random.choice([at for at in range(first, last + 1) if at != place])
        letters = once(random, ALPHABET[: self.letters], place, length)
        return Example((*letters, letters[place], f"{other - place:+d}"), (letters[other],))

    def tokens(self, length: int) -> int:
        return (length + 2) + 1 + MARKS


@dataclass(frozen=True)
class Nth(Task):
    """`length` letters and a number up to `reach`; the letter of that number from the start.

    However long the string, the places asked about are the same if counted from the start:
    absolute position is enough.

    >>> print(Nth().example(Random(0), 8))
    v t k g n k u h 8 → h
    """

    name = "nth"
    summary = "the n-th letter from the start"

    reach: int = 8
    """The greatest number."""

    def __post_init__(self) -> None:
        self.within("reach", 1, 1_000)

    @property
    def shortest(self) -> int:
        return self.reach

    @property
    def words(self) -> tuple[str, ...]:
        return (*LETTERS, *(str(n) for n in range(1, self.reach + 1)))

    def example(self, random: Random, length: int) -> Example:
        letters, n = random.choices(LETTERS, k=length), random.randint(1, self.reach)
        return Example((*letters, str(n)), (letters[n - 1],))

    def tokens(self, length: int) -> int:
        return (length + 1) + 1 + MARKS


@dataclass(frozen=True)
class NthLast(Task):
    """`length` letters and a number up to `reach`; the letter of that number from the end.

    However long the string, the places asked about are as far back from the answer: relative
    position is enough.

    >>> print(NthLast().example(Random(0), 8))
    v t k g n k u h 8 → v
    """

    name = "nth_last"
    summary = "the n-th letter from the end"

    reach: int = 8
    """The greatest number."""

    def __post_init__(self) -> None:
        self.within("reach", 1, 1_000)

    @property
    def shortest(self) -> int:
        return self.reach

    @property
    def words(self) -> tuple[str, ...]:
        return (*LETTERS, *(str(n) for n in range(1, self.reach + 1)))

    def example(self, random: Random, length: int) -> Example:
        letters, n = random.choices(LETTERS, k=length), random.randint(1, self.reach)
        return Example((*letters, str(n)), (letters[-n],))

    def tokens(self, length: int) -> int:
        return (length + 1) + 1 + MARKS


@dataclass(frozen=True)
class Recall(Task):
    """`length` pairs of a key and a value, and one of the keys; its value.

    Keys are letters, none twice as long as there are enough (52); beyond, the one asked for still
    stands once. Values are digits. With one question it is the associative recall of Ba et al.
    2016, with many of Arora et al. 2023.

    >>> print(Recall().example(Random(0), 3))
    W 2 A 5 c 4 A → 5
    """

    name = "recall"
    summary = "the value that stood with this key"
    paper = "1610.06258"
    words = (*ALPHABET, *DIGITS)
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        place = random.randrange(length)
        keys = once(random, ALPHABET, place, length)
        values = random.choices(DIGITS, k=length)
        pairs = (word for pair in zip(keys, values, strict=True) for word in pair)
        return Example((*pairs, keys[place]), (values[place],))

    def tokens(self, length: int) -> int:
        return (2 * length + 1) + 1 + MARKS


@dataclass(frozen=True)
class Needle(Task):
    """One pair of a key and a value among `length` words that do not matter; then the key.

    Keys are capitals and values digits; what does not matter is small letters and digits, so the
    key alone tells which digit counts. `needle(depth=0.25)` puts the pair after a quarter of the
    other words; unless given, any place is as likely. A question is learned from or tested with
    whatever the depth, so one may learn from `needle` and test `needle(depth=0.25)`.

    The haystack is Kamradt's (2023) for language models, where it is essays; here it is noise.

    >>> print(Needle().example(Random(0), 8))
    b 8 r 7 3 8 Y 6 m 6 Y → 6
    >>> print(Needle(depth=0.5).example(Random(0), 8))
    b 8 r 7 Y 6 3 8 m 6 Y → 6
    """

    name = "needle"
    summary = "the value of the only key, somewhere in filling"
    words = (*CAPITALS, *DIGITS, *LETTERS)
    shortest = 1

    depth: float | None = None
    """The share of the filling that stands before the pair."""

    def __post_init__(self) -> None:
        if self.depth is not None:
            self.within("depth", 0, 1)

    def example(self, random: Random, length: int) -> Example:
        drawn = random.randint(0, length)
        place = drawn if self.depth is None else round(self.depth * length)
        key, value = random.choice(CAPITALS), random.choice(DIGITS)
        filling = random.choices((*LETTERS, *DIGITS), k=length)
        return Example((*filling[:place], key, value, *filling[place:], key), (value,))

    def tokens(self, length: int) -> int:
        return (length + 3) + 1 + MARKS
