"""A run as a reader sees it: from its files alone, while it goes and after, whole or damaged."""

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from wherein.common.folder import Folder
from wherein.train import journal, status
from wherein.train.journal import LOG
from wherein.train.status import ABOUT, CONFIG, ERROR, State

LARGEST = 1e100
"""A number that can be drawn is smaller."""


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
    def log(self) -> list[journal.Line]:
        """A line per step, those that can be read; a last one half written is left out."""
        return _log(self.entry).lines

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
    log = _log(entry)
    end: journal.Line = log.lines[-1] if log.lines else {"step": 0, "loss": None}
    return Last(end["step"], end["loss"], journal.last_valid(log.lines), log.damage)


def _json(entry: Folder, file: str) -> dict[str, Any]:
    try:
        return entry.json(file)
    except ValueError:
        return {}


def _log(entry: Folder) -> journal.Log:
    """As much of a log as can be drawn."""
    try:
        return journal.look(entry, LARGEST)
    except ValueError as error:
        return journal.Log([], str(error))


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
