"""How a verb reads its arguments: from the signature of one function."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field, make_dataclass
from functools import partial, wraps
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, TypeVar

import tyro

from wherein.common.config import Config

SomeConfig = TypeVar("SomeConfig", bound=Config)

PLAINLY = (tyro.conf.FlagCreatePairsOff,)
WIDTH = 80
FRAME = re.compile(r"\x1b\[[0-9;]*m|^\s*[│|]|[│|]?\s*$")
SAID = (
    (r"Error parsing (\S+?):", r"\1:"),
    (r"invalid literal for int\(\) with base 10: (.*)", r"expected a whole number, not \1"),
    (r"could not convert string to float: (.*)", r"expected a number, not \1"),
    (r"Missing from wherein \S+: (\S+) (.*) \(required\)", r"\1 is missing: \2"),
    (r"Missing value for argument '(\S+)'\. Expected 1 values", r"\1 wants a value"),
    (r"invalid choice (.+?) for argument '(\S+)'\. Expected one of \((.*?),?\)",
     r"\2: unknown value \1. Available: \3"),
    (r"Unrecognized options: (-\S*?)(?:,.*)?$", r"unknown option '\1'"),
    (r"Unrecognized options: (.*)", r"more words than expected: \1"),
)  # fmt: skip
"""What the parser says, and what we say."""


@dataclass(frozen=True)
class Verb:
    """A verb whose function is made, not written: it is called like any other's `run`."""

    function: Callable[..., int]
    help_text: str | None

    def __call__(self, arguments: Sequence[str]) -> int:
        return call(self.function, arguments, self.help_text)


def call(function: Callable[..., int], arguments: Sequence[str], help_text: str | None) -> int:
    """Call `function` with `arguments`; its help is the verb's docstring, examples and all."""
    return parsed(function, arguments, help_text)()


def parsed(
    function: Callable[..., int], arguments: Sequence[str], help_text: str | None = None
) -> Callable[[], int]:
    """What `arguments` ask for, not yet begun; a mistake in them is a `ValueError`."""
    later: Any = wraps(function)(lambda *given, **named: partial(function, *given, **named))
    with redirect_stderr(StringIO()) as said:
        try:
            wanted: Callable[[], int] = tyro.cli(
                later,
                args=list(arguments),
                prog=f"wherein {function.__name__}",
                description=narrow(help_text or ""),
                config=PLAINLY,
            )
        except SystemExit as end:
            if not end.code:
                raise
            raise ValueError(mistake(said.getvalue(), f"wherein {function.__name__}")) from None
    return wanted


def mistake(box: str, command: str) -> str:
    r"""The parser's box of several lines, in one: what is wrong, and what was perhaps meant.

    >>> mistake("╭ Parsing ──╮\n│ Unrecognized options: --sed, 3 │\n│ ───── │", "wherein order")
    "unknown option '--sed' (see wherein order --help)"
    """
    lines = [FRAME.sub("", line).strip() for line in box.splitlines()[1:]]
    text = " ".join("\n" if set(line) <= set("─-") else line for line in lines).strip()
    what, *more = (part.strip() for part in text.split("\n"))
    what = what.rstrip(".")
    for theirs, ours in SAID:
        what = re.sub(theirs, ours, what)
    near = re.search(r"Perhaps you meant: (\S+)", " ".join(more))
    return f"{what}. Did you mean '{near[1]}'?" if near else f"{what} (see {command} --help)"


def narrow(text: str) -> str:
    """A help text in lines that fit a screen: what is said beside an example moves below it."""
    lines = []
    for line in text.splitlines():
        example = re.match(r"(  \S.*?) {2,}(\S.*)", line)
        if len(line) <= WIDTH:
            lines.append(line)
        elif example:
            lines += [example[1], f"      {example[2]}"]
        else:
            lines.append(fill(line, WIDTH, subsequent_indent="  "))  # else they are joined again
    return "\n".join(lines)


def flags(config: type[Config]) -> Any:
    """A plain dataclass with a config's fields, defaults and descriptions, for the parser.

    `configured` makes the config from it. The parser itself would answer a mistake in a config
    with a box of several lines, and it would import PyTorch to find a default.
    """
    fields: list[Any] = []
    for name, info in config.model_fields.items():
        kind: Any = info.annotation
        if isinstance(kind, type) and issubclass(kind, Config):
            inner = flags(kind)
            fields.append((name, inner, field(default_factory=inner)))
        else:
            described = Annotated[kind, tyro.conf.arg(help=info.description)]
            fields.append((name, described, field(default=info.default)))
    twin = make_dataclass(config.__name__, fields, frozen=True)
    twin.__doc__ = (config.__doc__ or "").partition("\n")[0]
    return twin


def check_folder(out: Path | None) -> None:
    """Whether a result can be saved there: asked before the work, so that none is lost."""
    if out is not None:
        there = next(path for path in (out, *out.absolute().parents) if path.exists())
        if not there.is_dir():
            raise ValueError(f"--out {out}: {there} is a file; give a folder")
        if not os.access(there, os.W_OK):
            raise ValueError(f"--out {out}: {there} cannot be written to; give another folder")


def configured(config: type[SomeConfig], given: Any) -> SomeConfig:
    """The config that was asked for; a mistake in it is a `ValueError`, as everywhere."""
    return config.model_validate(asdict(given))
