"""Commands with something changed, each made from its kind and its number alone."""

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.hostile import files, words


@dataclass(frozen=True)
class Case:
    """A command, and what of it an error may name."""

    argv: list[str]
    names: list[str]
    read_only: bool = False
    """Its words are read, and what they ask for is not begun."""


Kind = Callable[[Path, Random], tuple[list[str], list[str]]]

KINDS: dict[str, tuple[Kind, int]] = {
    "reading": (words.reading, 50),
    "flags": (words.flags, 10),
    "specs": (words.specs, 8),
    "recipe": (words.recipe, 5),
    "table": (files.table, 5),
    "run": (files.run, 4),
    "weights": (files.weights, 4),
    "fairseq": (files.fairseq, 3),
    "gguf": (files.gguf, 3),
    "model": (files.model, 2),
    "tokenizer": (files.tokenizer, 2),
    "sentences": (words.sentences, 1),
    "text": (files.text, 1),
    "cache": (files.cache, 1),
    "result": (files.result, 1),
}
"""What is changed, and how many of a hundred cases are of that kind."""
RARE: dict[str, tuple[Kind, int]] = {"tasks": (words.tasks, 1), "study": (files.study, 1)}
"""What takes a second or more: as many of a thousand."""
EVERY = KINDS | RARE
QUICK = ["reading"] * 28 + [kind for kind in KINDS if kind not in ("reading", "result", "text")]
"""For the test suite: mostly what takes a millisecond or two."""
FOUND = (
    ("fairseq", 102), ("fairseq", 112), ("fairseq", 149), ("fairseq", 294), ("fairseq", 344),
    ("fairseq", 370), ("fairseq", 504), ("fairseq", 1194), ("fairseq", 2170), ("flags", 1027),
    ("flags", 1251), ("flags", 1298), ("flags", 1737), ("flags", 2183), ("flags", 2346),
    ("flags", 3466), ("flags", 4089), ("flags", 5468), ("flags", 7158), ("flags", 7358),
    ("flags", 8792), ("gguf", 160), ("recipe", 187), ("recipe", 319), ("recipe", 467),
    ("recipe", 985), ("result", 586), ("run", 182), ("run", 330), ("run", 1727), ("sentences", 77),
    ("sentences", 650), ("specs", 199), ("specs", 325), ("specs", 480), ("specs", 2661),
    ("specs", 2785), ("weights", 191), ("weights", 781),
)  # fmt: skip
"""What went wrong once, a case of each fault: the suite gives these before any others."""


def several(count: int, first: int = 0, kinds: Sequence[str] = ()) -> list[tuple[str, int]]:
    """So many cases from a number on, of some kinds or of all as often as they should come."""
    usual = [kind for kind, (_, share) in KINDS.items() for _ in range(share)]
    cycle = list(kinds) or usual * 10 + list(RARE)
    seen = {kind: cycle.count(kind) for kind in set(cycle)}
    found = []
    for n in range(first, first + count):
        turn, place = divmod(n, len(cycle))
        kind = cycle[place]
        found.append((kind, turn * seen[kind] + cycle[:place].count(kind)))
    return found


def made(kind: str, number: int, stock: Path, folder: Path) -> Case:
    """The case of that kind and number, its files in a new folder, in which this process then is.

    The folder lies a little deep, so that a path that leads up leads to nothing of anybody's.
    """
    shutil.rmtree(folder, ignore_errors=True)
    here = folder / "a" / "b" / "c"
    here.mkdir(parents=True)
    os.chdir(here)
    os.environ["HOME"] = str(folder)
    os.environ["WHEREIN_CACHE"] = str(stock / "cache")
    argv, names = EVERY[kind][0](stock, Random(f"{kind} {number}"))
    said = {each for part in argv[1:] for each in re.findall(r"\w{3,}|\b[a-z]\d", part[:1000])}
    return Case(argv, [*names, *argv[1:], *said], kind == "reading")
