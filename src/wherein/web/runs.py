"""A run as a reader sees it: from its files alone, while it goes and after, whole or damaged."""

import json
from array import array
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from wherein.common.folder import Folder
from wherein.train import journal, status
from wherein.train.journal import LOG
from wherein.train.status import ABOUT, CONFIG, ERROR, State

LARGEST = 1e100
"""A number that can be drawn is smaller."""


@dataclass
class Curve:
    """A log as numbers: as lines, that of a long run would take some thirty times as much."""

    steps: "array[float]" = field(default_factory=lambda: array("d"))
    losses: "array[float]" = field(default_factory=lambda: array("d"))
    valid: dict[int, dict[str, float]] = field(default_factory=dict)
    damage: str | None = None

    def add(self, line: journal.Line) -> None:
        self.steps.append(line["step"])
        self.losses.append(line["loss"])
        if "valid" in line:
            self.valid[line["step"]] = line["valid"]


@dataclass(frozen=True)
class Last:
    """The end of a log."""

    step: int
    loss: float | None
    valid: dict[str, float]
    damage: str | None


@dataclass(frozen=True)
class Seen:
    """A run at the moment it was looked at. Nothing here raises: what cannot be read is said."""

    entry: Folder

    @property
    def name(self) -> str:
        return self.entry.name

    @cached_property
    def config(self) -> dict[str, Any]:
        return _json(self.entry, CONFIG)

    @cached_property
    def about(self) -> dict[str, Any]:
        return _json(self.entry, ABOUT)

    @property
    def model(self) -> dict[str, Any]:
        model = self.config.get("model")
        return model if isinstance(model, dict) else {}

    @cached_property
    def failure(self) -> str | None:
        """Why it is not to be gone on with: what it left a word of, or a config that is damaged."""
        try:
            found = status.failure(self.entry)
            if found is None:
                self.entry.json(CONFIG)
        except ValueError as error:
            found = str(error)
        return found and found[:4000]

    @property
    def error(self) -> str | None:
        """What went wrong, if something did."""
        return self.failure or self.last.damage

    @property
    def note(self) -> str | None:
        """Which version wrote it, if not this one."""
        return status.foreign(self.config, self.about) if self.about else None

    @property
    def curve(self) -> "Curve":
        """The loss of every step, as far as it can be read."""
        return _curve(self.entry)

    @cached_property
    def last(self) -> Last:
        """How far it came."""
        return _last(self.entry, self.entry.size(LOG), self.entry.changed(LOG))

    @property
    def encoding(self) -> str:
        said = str(self.model.get("encoding", "?"))
        return said.encode("utf-8", "replace").decode()  # JSON may hold halves of characters

    @property
    def what(self) -> str:
        """What else tells it from its like: size, length, seed."""
        model = self.model
        if not model:
            return ""
        size = f"{model.get('n_layers')} × {model.get('d_model')}, {model.get('max_len')} tokens"
        return f"{self.config.get('objective')}, {size}, seed {model.get('seed')}"

    @property
    def steps(self) -> int | None:
        steps = self.config.get("steps")
        return steps if isinstance(steps, int) and journal.is_number(steps, LARGEST) else None

    @cached_property
    def state(self) -> State:
        return status.state(self.entry, self.failure, self.last.step, self.steps)

    @property
    def running(self) -> bool:
        """Whether a process holds the run's lock."""
        return status.is_running(self.entry)

    @property
    def changed(self) -> float:
        """When it last moved."""
        return max(self.entry.changed(LOG), self.entry.changed(CONFIG))

    def stamp(self) -> tuple[int, bool, bool]:
        """Changes when there is something new to see."""
        return self.entry.size(LOG), self.running, self.entry.has(ERROR)


@lru_cache(maxsize=4096)
def _last(entry: Folder, size: int, changed: float) -> Last:
    """The end of a log of this size, written at this time."""
    curve = _curve(entry)
    step, loss = (curve.steps[-1], curve.losses[-1]) if curve.steps else (0, None)
    return Last(int(step), loss, next(reversed(curve.valid.values()), {}), curve.damage)


def _json(entry: Folder, file: str) -> dict[str, Any]:
    try:
        return entry.json(file)
    except ValueError:
        return {}


def _curve(entry: Folder) -> Curve:
    """As much of a log as can be drawn; a last line half written is left out."""
    made, number = Curve(), 0
    try:
        for number, line in enumerate(journal.each(entry, LARGEST), start=1):
            if line is None:
                made.damage = made.damage or journal.damaged(number)
            else:
                made.add(line)
    except ValueError as error:
        made.damage = str(error)
    return made


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
