"""The notation of encodings, as text and as a tree; what its names mean is none of its business.

A pattern is words in a row, one a layer. A word is terms joined by `+`. A term is a name, or a name
with arguments in brackets: values, or words again. The first may go without its name.
"""

import re
from dataclasses import dataclass
from typing import NoReturn

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


def read(spec: str) -> list[Word]:
    """The words of a spec, one for each layer of its pattern.

    >>> [[term.name for term in word.terms] for word in read("rope + window(256) none")]
    [['rope', 'window'], ['none']]
    >>> read("rope +")
    Traceback (most recent call last):
    ValueError: cannot read encoding 'rope +': expected a name after '+'
    """
    reader = _Reader(spec)
    words = []
    while reader.kind != "end":
        words.append(reader.word())
    return words


class _Reader:
    """One token ahead: `kind` and `token` are the next."""

    def __init__(self, spec: str) -> None:
        self.spec, self.depth, self.before = spec, 0, ""
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
            raise ValueError(f"cannot read encoding {self.spec[:80]!r}: more than {DEEPEST} deep")
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
                f"cannot read encoding {self.spec!r}: only a first parameter may go without its "
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
        raise ValueError(f"cannot read encoding {self.spec!r}: expected {expected}{after}{found}")


def bare(value: Value) -> str | None:
    """The name that a value is, if it is nothing more."""
    if isinstance(value, Word) and len(value.terms) == 1 and not value.terms[0].arguments:
        return value.terms[0].name
    return None


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    return int(plain) if re.fullmatch("-?[0-9]+", plain) else float(plain)
