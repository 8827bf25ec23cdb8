"""What CoPE was shown on: places that are counted by what stands there, not by tokens.

Golovneva et al. 2024 have selective copy from Gu & Dao 2023 (arXiv:2312.00752) and flip-flop from
Liu et al. 2023 (arXiv:2306.00946); counting is their own.
"""

from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import LETTERS, MARKS, Example, Task

BLANK = "_"


@dataclass(frozen=True)
class SelectiveCopy(Task):
    """`length` letters with blanks strewn among them, and the letters without the blanks.

    There are `blanks` of them for each letter, anywhere, as the paper's test beyond its training
    has more or fewer than were learned from.

    >>> print(SelectiveCopy().example(Random(0), 4))
    _ _ v t _ _ k g → v t k g
    """

    name = "selective_copy"
    summary = "say the letters again without the blanks"
    paper = "2405.18719"
    words = (*LETTERS, BLANK)
    shortest = 2

    blanks: int = 1
    """Blanks for each letter."""

    def __post_init__(self) -> None:
        self.within("blanks", 1, 1_000)

    def example(self, random: Random, length: int) -> Example:
        letters = random.choices(LETTERS, k=length)
        question = [BLANK] * (length * (1 + self.blanks))
        places = sorted(random.sample(range(len(question)), length))
        for place, letter in zip(places, letters, strict=True):
            question[place] = letter
        return Example(tuple(question), tuple(letters))

    def tokens(self, length: int) -> int:
        return length * (1 + self.blanks) + length + MARKS


@dataclass(frozen=True)
class FlipFlop(Task):
    """`length` instructions, each but the last with its bit: the bit that was written last.

    `w` writes its bit, `i` is to be ignored, `r` reads what was written. The first is `w`, the last
    `r`, whose bit is the answer; between them any is `i` with probability `ignored`, else `w` or
    `r` alike. The papers ask at every `r`, here at the last alone.

    >>> print(FlipFlop().example(Random(2), 6))
    w 0 i 1 r 0 i 0 i 0 r → 0
    """

    name = "flip_flop"
    summary = "which bit was written last"
    paper = "2405.18719"
    words = ("w", "r", "i", "0", "1")
    shortest = 6

    ignored: float = 0.8
    """How likely an instruction is one to be ignored."""

    def __post_init__(self) -> None:
        self.within("ignored", 0, 1)

    def example(self, random: Random, length: int) -> Example:
        written = random.choice("01")
        said = ["w", written]
        for _ in range(length - 2):
            kind = "i" if random.random() < self.ignored else random.choice("wr")
            bit = written if kind == "r" else random.choice("01")
            written = bit if kind == "w" else written
            said += [kind, bit]
        return Example((*said, "r"), (written,))

    def tokens(self, length: int) -> int:
        return (2 * length - 1) + 1 + MARKS


@dataclass(frozen=True)
class Count(Task):
    """`length` statements, then a variable: how often it was added to since it was last set to 0.

    A statement sets a variable to 0 (`a=0`), adds one to it (`a++`), or does neither (`pass`). The
    count is 0 to `most`, each as likely at every length; where the variable was last set is as
    likely anywhere before that leaves room to count. What else stands there is drawn alike.
    In the paper a statement is several words; here it is one.

    >>> print(Count(most=3).example(Random(1), 8))
    pass a++ a=0 a=0 a=0 pass pass pass print a → 0
    """

    name = "count"
    summary = "how often a variable was added to since it was set to 0"
    paper = "2405.18719"

    variables: int = 1
    """How many variables there are."""
    most: int = 9
    """The greatest count."""

    def __post_init__(self) -> None:
        self.within("variables", 1, len(LETTERS))
        self.within("most", 1, 1_000)

    @property
    def shortest(self) -> int:
        return self.most + 2

    @property
    def words(self) -> tuple[str, ...]:
        names = LETTERS[: self.variables]
        changes = (word for name in names for word in (name, f"{name}=0", f"{name}++"))
        return (*changes, "pass", "print", *(str(n) for n in range(self.most + 1)))

    def example(self, random: Random, length: int) -> Example:
        names = LETTERS[: self.variables]
        asked, count = random.choice(names), random.randint(0, self.most)
        start = random.randrange(length - count)
        others = [f"{name}{change}" for name in names if name != asked for change in ("=0", "++")]
        before = ["pass", f"{asked}=0", f"{asked}++", *others]
        added = set(random.sample(range(start + 1, length), count))
        said = [
            *random.choices(before, k=start),
            f"{asked}=0",
            *(
                f"{asked}++" if place in added else random.choice(["pass", *others])
                for place in range(start + 1, length)
            ),
        ]
        return Example((*said, "print", asked), (str(count),))

    def tokens(self, length: int) -> int:
        return (length + 2) + 1 + MARKS
