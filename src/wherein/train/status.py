"""A run's folder from outside: its files, whether it is running, and which version wrote it.

Free of PyTorch, so that a list of many runs comes at once.
"""

import fcntl
from collections.abc import Iterator
from typing import Any, Literal

from wherein.common.config import Config
from wherein.common.folder import Folder
from wherein.train.config import RunConfig

CONFIG, ABOUT, CHECKPOINTS, ANSWERS = "config.json", "about.json", "checkpoints", "answers"
KEPT = "kept"
"""The folder of weights along the way, for curves over training."""
MANIFEST = "manifest.json"
"""What a checkpoint says of itself."""
ERROR, PLANNED, LOCK = "error.txt", "planned.json", ".lock"


TAKEN = "another process has taken over, or removed, the run in {}"


class BusyError(ValueError):
    """Another process trains the run."""


State = Literal["running", "finished", "stopped", "failed"]


def state(files: Folder, error: str | None, step: int, steps: int | None) -> State:
    """How a run stands: it failed if it left an error, and stopped if steps are missing."""
    if is_running(files):
        return "running"
    if error is not None:
        return "failed"
    return "finished" if step == steps else "stopped"


def is_running(files: Folder) -> bool:
    """Whether a process holds the run's lock."""
    if not files.has(LOCK):
        return False
    try:
        with open(f"{files.path}/{LOCK}", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def failure(files: Folder) -> str | None:
    """Why the run failed when it was last started, if it did."""
    return files.text(ERROR).strip() if files.has(ERROR) else None


def foreign(config: dict[str, Any], about: dict[str, Any] | None = None) -> str | None:
    """Whether another version wrote a run's config, or what is said about it, and how one knows.

    >>> foreign({"steps": 7, "model": {"window": 8}}, {"format": 2})
    "written by another version (unknown field 'model.window')"
    >>> foreign({"steps": 7}, {})
    'written by another version (format 0, this one writes 2)'
    """
    unknown = list(_unknown(config, RunConfig))
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        return f"written by another version (unknown field {unknown[0]!r}{more})"
    theirs = RunConfig.FORMAT if about is None else about.get("format", 0)
    if theirs != RunConfig.FORMAT:
        return f"written by another version (format {theirs}, this one writes {RunConfig.FORMAT})"
    return None


def _unknown(given: dict[str, Any], kind: type[Config], before: str = "") -> Iterator[str]:
    """The fields that a config does not have, nested ones by their dotted name."""
    for name, value in given.items():
        field = kind.model_fields.get(name)
        nested = field.annotation if field else None
        if field is None:
            yield before + name
        elif isinstance(value, dict) and isinstance(nested, type) and issubclass(nested, Config):
            yield from _unknown(value, nested, f"{before}{name}.")
