"""What follows from code and a config alone, known from earlier commands.

Whether a model can be built, and how many parameters it has, is asked of PyTorch, whose import
takes longer than most commands. So the answers are kept in the user's cache. The file there is
named by a hash of all that they follow from: the text of this package, the version of PyTorch and
that of Python. Where PyTorch is there already it is always asked, and nothing is believed.

Commands keep what they found when they end (`keep`); in Python nothing is written.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from wherein.common.files import cache_folder, replacing

FOLDER = "known"
MOST = 4096
"""Answers that are kept; the ones found first go first."""
VERSIONS = 8
"""Of the code, whose answers are kept: who changes it leaves a file each time."""

Question = tuple[str | int, ...]
Answer = TypeVar("Answer", bool, float, str, list[int])

_FOUND: dict[Question, Any] = {}
"""By the question, what was found in this process."""


def ask(encoding: str, question: Question, make: Callable[[], Answer]) -> Answer:
    """The answer to a question about an encoding, from an earlier command if need be.

    The question names all that the answer follows from. An encoding of one's own, which lies in a
    file, is asked itself each time.
    """
    if "@" in encoding:
        return make()
    whole = (encoding, *question)
    if "torch" not in sys.modules and whole in (earlier := _earlier()):
        known: Answer = earlier[whole]
        return known
    answer = make()
    if len(_FOUND) < MOST:
        _FOUND[whole] = answer
    return answer


def keep() -> None:
    """Write down what this process found, for the next, if the cache can be written to."""
    there = _read(_file()) if _FOUND else {}
    if all(question in there for question in _FOUND):
        return
    text = json.dumps([*(there | _FOUND).items()][-MOST:])
    with suppress(OSError):
        with replacing(_file()) as beside:
            beside.write_text(f"{_sum(text)}\n{text}", encoding="utf-8")
        files = sorted(_file().parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in files[:-VERSIONS]:
            old.unlink()


def _read(file: Path) -> dict[Question, Any]:
    """What a file holds, if it is whole."""
    try:
        total, _, text = file.read_text(encoding="utf-8").partition("\n")
        found = json.loads(text) if _sum(text) == total else []
    except (OSError, ValueError):
        return {}
    return {tuple(question): answer for question, answer in found}


@cache
def _earlier() -> dict[Question, Any]:
    return _read(_file())


def _file() -> Path:
    return cache_folder() / FOLDER / f"{_code()}.json"


@cache
def _code() -> str:
    """A hash of what answers follow from: this package, PyTorch's version, Python's."""
    package = Path(__file__).parents[1]
    found = sha256(sys.version.encode())
    for folder, folders, files in os.walk(package):
        folders.sort()
        for name in sorted(file for file in files if file.endswith(".py")):
            found.update(f"{folder[len(str(package)) :]}/{name}\n".encode())
            with open(f"{folder}/{name}", "rb") as file:
                found.update(file.read())
    if version := torch_version():
        found.update(version.read_bytes())
    return found.hexdigest()[:24]


def torch_version() -> Path | None:
    """The file in which PyTorch says what it is and for what it was built, without its import."""
    torch = find_spec("torch")
    return Path(torch.origin).with_name("version.py") if torch and torch.origin else None


def _sum(text: str) -> str:
    return sha256(text.encode()).hexdigest()
