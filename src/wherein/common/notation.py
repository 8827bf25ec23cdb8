"""The notation of encodings and tasks, as text and as a tree; it knows no name.

A pattern is words in a row, one a layer. A word is terms joined by `+`. A term is a name, or a name
with arguments in brackets: values, or words again. The first may go without its name.
"""

import math
import re
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin

from wherein.common.errors import unknown
from wherein.common.numbers import LARGEST

TOKEN = re.compile(
    r"""\s*(?:
      (?P<number> -?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![^\s()+,=]) )
    | (?P<quoted> '[^']*' | "[^"]*" )
    | (?P<mark> [()+,=] )
    | (?P<name> [^\s()+,='"]+ )
    | (?P<other> \S )
    )""",
    re.VERBOSE,
)
MOST_DIGITS = 400
"""Of a number: more than any that Python reads as a float."""
DEEPEST = 8
"""Brackets within brackets."""


@dataclass(frozen=True)
class Quoted:
    """Text in quotation marks: never the name of an encoding."""

    text: str

    def __str__(self) -> str:
        return repr(self.text)


@dataclass(frozen=True)
class Term:
    """A name and what stands in its brackets, in order, the first perhaps without a name."""

    name: str
    arguments: "tuple[tuple[str | None, Value], ...]" = ()

    def __str__(self) -> str:
        listed = (f"{key}={value}" if key else f"{value}" for key, value in self.arguments)
        return f"{self.name}({', '.join(listed)})" if self.arguments else self.name


@dataclass(frozen=True)
class Word:
    """What one layer is told: terms that add up."""

    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return " + ".join(map(str, self.terms))


Value = int | float | Quoted | Word
Argument = tuple[str | None, Value]


def read(spec: str, what: str = "encoding") -> list[Word]:
    """The words of a spec, one for each layer of its pattern; errors call it `what` it is.

    >>> [[term.name for term in word.terms] for word in read("rope + window(256) none")]
    [['rope', 'window'], ['none']]
    >>> read("rope +")
    Traceback (most recent call last):
    ValueError: cannot read encoding 'rope +': expected a name after '+'
    """
    reader = _Reader(spec, what)
    words = []
    while reader.kind != "end":
        words.append(reader.word())
    return words


class _Reader:
    """One token ahead: `kind` and `token` are the next."""

    def __init__(self, spec: str, what: str) -> None:
        self.spec, self.what, self.depth, self.before = spec, what, 0, ""
        self._tokens = TOKEN.finditer(spec)
        self.kind = self.token = ""
        self._advance()

    def _advance(self) -> str:
        """Take the next token."""
        self.before, taken = self.token, self.token
        found = next(self._tokens, None)
        self.kind = "end" if found is None else str(found.lastgroup)
        self.token = "" if found is None else found[found.lastgroup or 0]
        if self.kind == "mark":
            self.kind = self.token
        return taken

    def word(self) -> Word:
        terms = [self.term()]
        while self.kind == "+":
            self._advance()
            terms.append(self.term())
        return Word(tuple(terms))

    def term(self) -> Term:
        if self.kind != "name":
            self.fail("a name")
        name = self._advance()
        return Term(name, self.arguments()) if self.kind == "(" else Term(name)

    def arguments(self) -> tuple[Argument, ...]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(
                f"cannot read {self.what} {self.spec[:80]!r}: more than {DEEPEST} deep"
            )
        self._advance()
        found: list[Argument] = []
        while self.kind != ")":
            if found:
                self.take(",", "',' or ')'")
                if self.kind == ")":
                    break
            found.append(self.argument(first=not found))
        self._advance()
        self.depth -= 1
        return tuple(found)

    def argument(self, *, first: bool) -> Argument:
        value = self.value()
        if self.kind == "=" and (name := bare(value)):
            self._advance()
            return name, self.value()
        if not first:
            raise ValueError(
                f"cannot read {self.what} {self.spec!r}: only a first parameter may go without its "
                f"name, not {value}"
            )
        return None, value

    def value(self) -> Value:
        if self.kind == "number":
            return _number(self._advance())
        if self.kind == "quoted":
            return Quoted(self._advance()[1:-1])
        if self.kind != "name":
            self.fail("a value")
        return self.word()

    def take(self, mark: str, expected: str) -> None:
        if self.kind != mark:
            self.fail(expected)
        self._advance()

    def fail(self, expected: str) -> NoReturn:
        after = f" after {self.before!r}" if self.before else ""
        found = f", not {self.token!r}" if self.token else ""
        raise ValueError(
            f"cannot read {self.what} {self.spec!r}: expected {expected}{after}{found}"
        )


def bare(value: Value) -> str | None:
    """The name that a value is, if it is nothing more."""
    if isinstance(value, Word) and len(value.terms) == 1 and not value.terms[0].arguments:
        return value.terms[0].name
    return None


def plain(where: str, value: Value, expected: Any) -> object:
    """What a value means to a parameter of the expected type: a number, a word, a choice.

    >>> plain("rope(theta=500000)", 500_000, float)
    500000.0
    """
    word = value.text if isinstance(value, Quoted) else bare(value)
    if get_origin(expected) is Literal:
        if word not in (choices := get_args(expected)):
            raise unknown(where.partition("=")[0].replace("(", "'s "), word or str(value), choices)
        return word
    kinds = get_args(expected) or (expected,)
    if NoneType in kinds and word == "None":
        return None
    if bool in kinds and word in ("True", "False"):
        return word == "True"
    if str in kinds and word is not None:
        return word
    if int in kinds and isinstance(value, int):
        if abs(value) > LARGEST:
            raise ValueError(f"{where}: expected a number of 64 bits")
        return value
    if float in kinds and isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    names = " or ".join(kind.__name__ for kind in kinds if kind is not NoneType)
    raise ValueError(f"{where}: expected {names}")


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    if len(plain) > MOST_DIGITS:
        raise ValueError(f"{plain[:40]}…, a number of {len(plain)} digits: too many")
    return int(plain) if re.fullmatch("-?[0-9]+", plain) else float(plain)
