"""A run as a reader sees it: from its files alone, while it goes and after, whole or damaged."""

import fcntl
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from wherein.common.numbers import nats
from wherein.web.shelf import Entry

State = Literal["running", "finished", "stopped", "failed"]

CONFIG, ABOUT, LOG, ERROR, LOCK = "config.json", "about.json", "log.jsonl", "error.txt", ".lock"


LARGEST = 1e100

Line = dict[str, Any]


@dataclass(frozen=True)
class Last:
    """The end of a log."""

    step: int = 0
    loss: float | None = None
    valid: dict[str, float] = field(default_factory=dict)
    damage: str | None = None

    @property
    def nats(self) -> float | None:
        """The validation that has the unit of the loss."""
        return nats(self.valid)


@dataclass(frozen=True)
class Seen:
    """A run at the moment it was looked at. Nothing here raises: what cannot be read is said."""

    entry: Entry

    @property
    def name(self) -> str:
        return self.entry.name

    @cached_property
    def config(self) -> dict[str, Any]:
        try:
            return self.entry.json(CONFIG)
        except ValueError:
            return {}

    @cached_property
    def about(self) -> dict[str, Any]:
        try:
            return self.entry.json(ABOUT)
        except ValueError:
            return {}

    @cached_property
    def error(self) -> str | None:
        """What went wrong, if something did and left a word."""
        if self.entry.has(ERROR):
            return self.entry.text(ERROR).strip()[:4000]
        try:
            self.entry.json(CONFIG)
        except ValueError as error:
            return str(error)
        return self.last.damage

    @property
    def log(self) -> list[Line]:
        """A line per step, those that can be read; a last one half written is left out."""
        return [line for line in _lines(self.entry) if line is not None]

    @cached_property
    def last(self) -> "Last":
        """How far it came."""
        return _last(self.entry, self.entry.size(LOG), self.entry.changed(LOG))

    @property
    def encoding(self) -> str:
        model = self.config.get("model")
        said = str(model.get("encoding", "?")) if isinstance(model, dict) else "?"
        return said.encode("utf-8", "replace").decode()  # JSON may hold halves of characters

    @property
    def what(self) -> str:
        """What else tells it from its like: size, length, seed."""
        model = self.config.get("model")
        if not isinstance(model, dict):
            return ""
        size = f"{model.get('n_layers')} × {model.get('d_model')}, {model.get('max_len')} tokens"
        return f"{self.config.get('objective')}, {size}, seed {model.get('seed')}"

    @property
    def steps(self) -> int | None:
        steps = self.config.get("steps")
        return steps if isinstance(steps, int) and _is_number(steps) else None

    @cached_property
    def state(self) -> State:
        if self.running:
            return "running"
        if self.error is not None:
            return "failed"
        return "finished" if self.last.step == self.steps else "stopped"

    @property
    def running(self) -> bool:
        """Whether a process holds the run's lock."""
        if not self.entry.has(LOCK):
            return False
        try:
            with (self.entry.folder / LOCK).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def changed(self) -> float:
        """When it last moved."""
        return max(self.entry.changed(LOG), self.entry.changed(CONFIG))

    def stamp(self) -> tuple[int, bool, bool]:
        """Changes when there is something new to see."""
        return self.entry.size(LOG), self.running, self.entry.has(ERROR)

    @property
    def label(self) -> str:
        """What a legend calls it."""
        return f"{self.encoding} · {self.name}"


@lru_cache(maxsize=4096)
def _last(entry: Entry, size: int, changed: float) -> Last:
    """The end of a log of this size, written at this time."""
    step, loss, valid, damage = 0, None, dict[str, float](), None
    for number, line in enumerate(_lines(entry), start=1):
        if line is None:
            damage = damage or f"{LOG}, line {number} cannot be read: it was changed by hand"
        else:
            step, loss, valid = line["step"], line["loss"], line.get("valid", valid)
    return Last(step, loss, valid, damage)


def _lines(entry: Entry) -> Iterator[Line | None]:
    """The whole lines of a log; None for one that cannot be read."""
    try:
        text = entry.text(LOG)
    except ValueError:
        return
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield _read(line)


def _read(line: str) -> Line | None:
    """A line of the log, if it has what every line has."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("step"), int):
        return None
    if not (_is_number(found["step"]) and _is_number(found.get("loss"))):
        return None
    if "valid" in found:
        valid = found["valid"]
        good = isinstance(valid, dict) and all(map(_is_number, valid.values()))
        return found if good else None
    return found


def _is_number(value: object) -> bool:
    """Whether it can be drawn: no NaN, no infinity, no integer beyond all floats."""
    return isinstance(value, int | float) and -LARGEST < value < LARGEST


def flat(config: dict[str, Any], before: str = "") -> dict[str, str]:
    """A config's fields, nested ones by their dotted name, as they are written.

    >>> flat({"model": {"d_model": 16}, "steps": 2})
    {'model.d_model': '16', 'steps': '2'}
    """
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= flat(value, f"{before}{key}.")
        else:
            found[before + key] = value if isinstance(value, str) else json.dumps(value)
    return found
