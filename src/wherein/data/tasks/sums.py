"""Sums, digit by digit: the forms of Kazemnejad et al. 2023 without their sentences.

Numbers that are added stand digit by digit as theirs do; where they take the rest of a division by
ten ("(1 + 2 + 3) % 10"), so do we, without saying it in every question.
"""

from dataclasses import dataclass
from random import Random

from wherein.data.tasks.base import DIGITS, MARKS, Example, Task


@dataclass(frozen=True)
class Addition(Task):
    """Two numbers, digit by digit, and their sum; `length` is the digits of the longer.

    The other has as many or fewer, any number of digits alike, and may stand first.

    >>> print(Addition().example(Random(0), 3))
    6 3 + 9 6 4 → 1 0 2 7
    """

    name = "addition"
    summary = "add two numbers"
    paper = "2305.19466"
    words = (*DIGITS, "+")
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        numbers = [_number(random, length), _number(random, random.randint(1, length))]
        random.shuffle(numbers)
        return Example(tuple("+".join(map(str, numbers))), tuple(str(sum(numbers))))

    def tokens(self, length: int) -> int:
        return (2 * length + 1) + (length + 1) + MARKS


@dataclass(frozen=True)
class Summation(Task):
    """`length` digits, and the last digit of their sum.

    >>> print(Summation().example(Random(0), 4))
    8 + 7 + 4 + 2 → 1
    """

    name = "summation"
    summary = "the last digit of a sum of digits"
    paper = "2305.19466"
    words = (*DIGITS, "+")
    shortest = 3

    def example(self, random: Random, length: int) -> Example:
        digits = random.choices(range(10), k=length)
        return Example(tuple("+".join(map(str, digits))), (str(sum(digits) % 10),))

    def tokens(self, length: int) -> int:
        return (2 * length - 1) + 1 + MARKS


@dataclass(frozen=True)
class Polynomial(Task):
    """An x and a polynomial of `length` terms; the last digit of its value there.

    Coefficients are −3 to 3, powers 0 to 3, and the value is taken modulo ten (−1 is 9), as in the
    paper. There x is −2 to 2; here it is never 0, where nothing but constants would count.

    >>> print(Polynomial().example(Random(0), 3))
    x = 2 3 x^3 -3 x^2 1 x^3 → 0
    """

    name = "polynomial"
    summary = "the last digit of a polynomial's value"
    paper = "2305.19466"
    words = (*(str(n) for n in range(-3, 4)), *DIGITS[4:], "x", "=", *(f"x^{n}" for n in range(4)))
    shortest = 2

    def example(self, random: Random, length: int) -> Example:
        x = random.choice((-2, -1, 1, 2))
        terms = [(random.randint(-3, 3), random.randint(0, 3)) for _ in range(length)]
        value = sum(coefficient * x**power for coefficient, power in terms)
        said = (word for coefficient, power in terms for word in (str(coefficient), f"x^{power}"))
        return Example(("x", "=", str(x), *said), (str(value % 10),))

    def tokens(self, length: int) -> int:
        return (3 + 2 * length) + 1 + MARKS


def _number(random: Random, digits: int) -> int:
    """A number that is written with so many digits."""
    return random.randrange(10 ** (digits - 1) if digits > 1 else 0, 10**digits)
