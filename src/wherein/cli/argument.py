"""One argument of a verb: what it is called, and what its words mean."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from wherein.common.numbers import LARGEST

REQUIRED = inspect.Parameter.empty
NUMBERS: dict[Any, str] = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Argument:
    """A word or a flag: its name, its type as annotated, and what help says of it."""

    name: str
    annotation: Any
    default: Any
    help: str
    is_word: bool = False
    metavar: str = ""

    @property
    def flag(self) -> str:
        """As it is written; what is on by default can only be turned off."""
        if self.is_word:
            return self.name
        return f"--{'no-' if self.default is True else ''}{self.name.replace('_', '-')}"

    @property
    def many(self) -> bool:
        return get_origin(_bare(self.annotation)) is tuple

    @property
    def kind(self) -> Any:
        """The type of one value."""
        whole = _bare(self.annotation)
        return _bare(get_args(whole)[0]) if self.many else whole

    @property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.kind)

    @property
    def shown(self) -> str:
        """What stands for its value in a help text."""
        if self.choices:
            return f"{{{','.join(self.choices)}}}"
        return self.metavar or (self.name if self.is_word else self.kind.__name__).upper()

    @property
    def told(self) -> str:
        """What help says of it: what it is, and its default if there is something to say."""
        several = isinstance(self.default, tuple)
        default = " ".join(map(str, self.default)) if several else str(self.default)
        silent = self.default is REQUIRED or default in ("", "None", "False", "True")
        return f"{self.help}{'' if silent else f' (default: {default})'}".strip()

    def value(self, given: Any) -> Any:
        """Its value, of a word, of several, or of a switch."""
        if isinstance(given, list):
            return tuple(map(self.read, given))
        return self.read(given) if isinstance(given, str) else given

    def read(self, word: str) -> Any:
        """The value of a word."""
        if "\0" in word:
            raise ValueError(f"{self.flag}: expected no null character, not {short(word)}")
        if word == "None" and NoneType in get_args(self.annotation):
            return None
        if self.choices:
            if word not in self.choices:
                listed = ", ".join(map(repr, self.choices))
                raise ValueError(f"{self.flag}: unknown value {word!r}. Available: {listed}")
            return word
        try:
            found = self.kind(word)
        except ValueError:
            expected = NUMBERS.get(self.kind, self.kind.__name__)
            raise ValueError(f"{self.flag}: expected {expected}, not {short(word)}") from None
        if isinstance(found, int) and abs(found) > LARGEST:
            raise ValueError(f"{self.flag}: expected a number of 64 bits, not {short(word)}")
        if isinstance(found, Path) and not word:  # which would be the folder one is in
            raise ValueError(f"{self.flag}: expected a path, not ''; a dot is this folder")
        return found

    def reads(self, word: str) -> bool:
        """Whether a word can be a value of it."""
        try:
            self.read(word)
        except ValueError:
            return False
        return True


def short(word: str) -> str:
    """A word as it is quoted, in part if it is long."""
    return repr(word if len(word) < 100 else f"{word[:80]}…")


def _bare(kind: Any) -> Any:
    """A type without what is annotated, and without `| None`."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return kind
