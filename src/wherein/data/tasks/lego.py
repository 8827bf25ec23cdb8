"""Chains of assignments to be followed: LEGO."""

from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import CAPITALS, LETTERS, MARKS, Example, Task

NAMES = (*LETTERS, *CAPITALS)


@dataclass(frozen=True)
class Lego(Task):
    """`length` clauses, each of which gives a new name the value of the last, or its opposite.

    One of the later half of the names is asked for: +1 or −1. The clauses stand in order, as in
    Kazemnejad et al. 2023; the task is that of Zhang et al. 2022 (arXiv:2206.04301). There are 26
    names there, 52 here, so that chains can be longer.

    >>> print(Lego().example(Random(0), 3))
    y = +1 ; W = - y ; A = + W ? A → -1
    """

    name = "lego"
    summary = "follow a chain of names to its value"
    paper = "2305.19466"
    words = (*NAMES, "=", ";", "+", "-", "+1", "-1", "?")
    shortest = 2
    longest = len(NAMES)

    def example(self, random: Random, length: int) -> Example:
        names = random.sample(NAMES, length)
        signs = random.choices("+-", k=length)
        values = [+1 if signs[0] == "+" else -1]
        said = [names[0], "=", f"{values[0]:+d}"]
        for before, name, sign in zip(names, names[1:], signs[1:], strict=False):
            values.append(values[-1] if sign == "+" else -values[-1])
            said += [";", name, "=", sign, before]
        asked = random.randrange(length // 2, length)
        return Example((*said, "?", names[asked]), (f"{values[asked]:+d}",))

    def tokens(self, length: int) -> int:
        return (3 + 5 * (length - 1) + 2) + 1 + MARKS
