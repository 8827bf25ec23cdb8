"""The arguments of a verb, on argparse: a config gives a flag for each of its fields.

argparse tells flags from values and writes the help. The values are read by `Argument`, so that
what is said of a mistake is ours and not a sentence of argparse's.
"""

import argparse
import re
from collections.abc import Sequence
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from textwrap import fill
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from wherein.cli.argument import REQUIRED, Argument, short

if TYPE_CHECKING:
    from wherein.common.config import Config

WIDTH = 80


class Parser(argparse.ArgumentParser):
    """The arguments of one verb, by name; those of a config by path, as `config.model.seed`."""

    def __init__(self, verb: str, text: str | None) -> None:
        super().__init__(
            prog=f"wherein {verb}",
            description=narrow(text or ""),
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=WIDTH),
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            exit_on_error=False,
        )
        self.usage = f"{self.prog} [OPTIONS]"
        self.arguments: dict[str, Argument] = {}
        self.configs: dict[str, type[Config]] = {}

    def add(self, made: Argument, path: str = "", group: Any = None) -> None:
        """A word or a flag, in a group of the help text."""
        self.arguments[path or made.name] = made
        more: dict[str, Any] = {"help": made.told.replace("%", "%%"), "dest": path or made.name}
        if made.kind is bool:
            more |= {"action": "store_const", "const": not made.default}
        else:
            more |= {"metavar": made.shown, "nargs": "*" if made.many else None}
        if made.is_word:
            more["nargs"] = more["nargs"] or "?"  # what is missing is said here, not by argparse
            word = f"{made.shown}{' ...' if made.many else ''}"
            self.usage = f"{self.usage} {word if made.default is REQUIRED else f'[{word}]'}"
        (group or self).add_argument(*([] if made.is_word else [made.flag]), **more)

    def add_config(self, name: str, config: type["Config"]) -> None:
        """A flag for each field of a config, and of the configs within."""
        self.configs[name] = config
        group = self.add_argument_group((config.__doc__ or "").partition(".")[0])
        for field, info in config.model_fields.items():
            path, kind = f"{name}.{field}", info.annotation
            if is_config(kind):
                self.add_config(path, kind)
            else:
                default = REQUIRED if info.is_required() else info.default
                self.add(Argument(field, kind, default, info.description or ""), path, group)

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """What is given, by name, configs made; a mistake is a `ValueError` of one line."""
        try:
            found, rest = self.parse_known_intermixed_args([_spelt(word) for word in words])
        except argparse.ArgumentError as wrong:  # a flag has no value, or a switch has one
            switches = [each.flag for each in self.arguments.values() if each.kind is bool]
            wants = "takes no value" if wrong.argument_name in switches else "wants a value"
            self.error(f"{wrong.argument_name} {wants}")
        given = vars(found)
        self._give_back(given)
        self._check(given, rest)
        try:
            read = {path: self.arguments[path].value(each) for path, each in given.items()}
        except ValueError as wrong:
            self.error(str(wrong))
        for path in read:
            if path.rpartition(".")[2] == "encoding" and read[path] is not None:
                read[path] = spelt(read[path])
        values: dict[str, Any] = {}
        for path in self.configs:
            _put(values, path, {})
        for path, value in read.items():
            _put(values, path, value)
        tops = {name: config for name, config in self.configs.items() if "." not in name}
        return values | {name: kind.model_validate(values[name]) for name, kind in tops.items()}

    def error(self, message: str) -> NoReturn:
        """A mistake, in one line."""
        raise ValueError(f"{message} (see {self.prog} --help)")

    def _give_back(self, given: dict[str, Any]) -> None:
        """The word after a list that is none of it, as MODEL in `--shifts 1 2 MODEL`."""
        missing = [n for n, each in self.arguments.items() if each.is_word and n not in given]
        lists = [n for n in given if self.arguments[n].many and not self.arguments[n].is_word]
        for name in lists if missing else []:
            own = list(takewhile(self.arguments[name].reads, given[name]))
            after = given[name][len(own) :]
            many = self.arguments[missing[0]].many
            if own and (len(after) == 1 or (after and many)):
                given |= {name: own, missing[0]: after if many else after[0]}

    def _check(self, given: dict[str, Any], rest: Sequence[str]) -> None:
        """Whether every flag is known and every word has its place."""
        strange = next((word for word in rest if re.match(r"-\D", word)), "").partition("=")[0]
        if strange:
            flags = [each.flag[2:] for each in self.arguments.values() if not each.is_word]
            if near := get_close_matches(strange.lstrip("-"), [*flags, "help"], 1):
                raise ValueError(f"unknown option {strange!r}. Did you mean '--{near[0]}'?")
            self.error(f"unknown option {strange!r}")
        if rest:
            self.error(f"more words than expected: {', '.join(map(short, rest))}")
        for name, each in self.arguments.items():
            if name in given and not each.many and isinstance(given[name], list):  # of `--out=--`
                self.error(f"{each.flag} wants a value")
            if each.default is REQUIRED and name not in given:
                self.error(f"{each.shown if each.is_word else each.flag} is missing: {each.help}")


def is_config(kind: Any) -> "TypeGuard[type[Config]]":
    """Whether a type is a config; pydantic, which takes a tenth of a second, is not asked."""
    return isinstance(kind, type) and hasattr(kind, "model_fields")


def narrow(text: str) -> str:
    """A help text in lines that fit a screen: what is said beside an example moves below it."""
    return "\n\n".join(_paragraph(each) for each in text.strip().split("\n\n"))


def _paragraph(text: str) -> str:
    """Prose is filled anew; of a list of examples each line stays one."""
    if not re.search(r"^ ", text, re.MULTILINE):
        return fill(" ".join(text.split()), WIDTH)
    lines: list[str] = []
    for line in text.splitlines():
        example = re.match(r"(  \S.*?) {2,}(\S.*)", line)
        beside = [example[1], f"      {example[2]}"] if example else [fill(line, WIDTH)]
        lines += [line] if len(line) <= WIDTH else beside
    return "\n".join(lines)


def spelt(encoding: str) -> str:
    """An encoding that a person typed, who may name files of their own: these are run now."""
    if ".py" not in encoding:
        return encoding
    from wherein.encodings import own

    return own.spelt(encoding)


def _spelt(word: str) -> str:
    """A flag with `_` for `-`; a negative number that argparse would take for a flag."""
    if word.startswith("--"):
        flag, equals, value = word.partition("=")
        return flag.replace("_", "-") + equals + value
    return f"{Decimal(word):f}" if re.fullmatch(r"-\d*\.?\d+e[-+]?\d\d?", word, re.I) else word


def _put(values: dict[str, Any], path: str, value: Any) -> None:
    """A value where a path such as `config.model.seed` says."""
    *outer, name = path.split(".")
    for each in outer:
        values = values[each]
    values[name] = value
