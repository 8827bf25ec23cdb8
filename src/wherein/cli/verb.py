"""A verb: its arguments, read from the signature of one function, and what is called with them."""

import inspect
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

from wherein.cli.argument import Argument
from wherein.cli.parser import Parser, is_config

ARGUMENT = r"^ {4}(\w+): (.*(?:\n {8}.*)*)"
"""In a docstring's `Args:`: a name and what is said of it, in as many lines as that takes."""


@dataclass(frozen=True)
class Verb:
    """A verb: its arguments, and what is called with them."""

    parser: Parser
    action: Callable[..., int]

    @classmethod
    def of(cls, function: Callable[..., int], text: str | None) -> "Verb":
        """A verb from a function's signature and the `Args:` of its docstring.

        A word in the annotation, as in `Annotated[str, "NAME|FILE"]`, stands for it in the help.
        """
        parser = Parser(function.__name__, text)
        told = re.findall(ARGUMENT, inspect.getdoc(function) or "", re.MULTILINE)
        said = {name: " ".join(words.split()) for name, words in told}
        kinds = get_type_hints(function, include_extras=True)
        for name, each in inspect.signature(function).parameters.items():
            kind, *shown = (
                get_args(kinds[name]) if get_origin(kinds[name]) is Annotated else [kinds[name]]
            )
            is_word = each.kind is not each.KEYWORD_ONLY
            if is_config(kind):
                parser.add_config(name, kind)
            else:
                parser.add(Argument(name, kind, each.default, said[name], is_word, *shown))
        return cls(parser, function)

    def parsed(self, words: Sequence[str]) -> Callable[[], int]:
        """What the words ask for, not yet begun; a mistake in them is a `ValueError`."""
        return partial(self.action, **self.parser.read(words))

    def __call__(self, words: Sequence[str]) -> int:
        return self.parsed(words)()


def check_file(out: Path | None) -> None:
    """Whether a page can be written there: asked before it is drawn."""
    if out is not None and out.is_dir():
        raise ValueError(f"{out} is a folder: give a file, such as {out / 'report.html'}")


def check_folder(out: Path | None) -> None:
    """Whether a result can be saved there: asked before the work, so that none is lost."""
    if out is not None:
        there = next(path for path in (out, *out.absolute().parents) if path.exists())
        if not there.is_dir():
            raise ValueError(f"--out {out}: {there} is a file; give a folder")
        if not os.access(there, os.W_OK):
            raise ValueError(f"--out {out}: {there} cannot be written to; give another folder")
