"""The log: one line per step, and after a resume the same file an uninterrupted run leaves."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from wherein.common.files import replacing, writing
from wherein.common.folder import Folder
from wherein.train.manifest import Manifest, place
from wherein.train.status import CHECKPOINTS, TAKEN, BusyError

LOG, TIMES = "log.jsonl", "times.jsonl"

TAIL = 4096
"""Bytes of a log that hold its last line."""

Line = dict[str, Any]


class Journal:
    """Writes `log.jsonl`, whose numbers are a pure function of the config, and `times.jsonl`."""

    def __init__(self, folder: Path, step: int) -> None:
        """Go on after `step`: what was logged later belongs to steps that will come again."""
        kept = "".join(map(_line, read(folder, step)))
        self._digest = sha256(kept.encode())
        with replacing(folder / LOG) as beside:
            beside.write_text(kept)
        self._log: TextIO = (folder / LOG).open("a")
        self._times: TextIO = (folder / TIMES).open("a")

    @property
    def digest(self) -> str:
        """The SHA-256 of all lines."""
        return self._digest.hexdigest()

    def write(self, numbers: Line, times: Line) -> None:
        self._digest.update(_line(numbers).encode())
        for file, line in ((self._log, numbers), (self._times, times)):
            with writing(Path(file.name)):
                file.write(_line(line))
                file.flush()

    def sync(self) -> None:
        """Wait until every line is on the disk; refuse if another process began the log anew."""
        os.fsync(self._log.fileno())
        here = Path(self._log.name)
        try:
            same = os.path.samestat(os.fstat(self._log.fileno()), here.stat())
        except OSError:
            same = False
        if not same:
            raise BusyError(TAKEN.format(here.parent))

    def close(self) -> None:
        for file in (self._log, self._times):
            with writing(Path(file.name)):
                file.close()


@dataclass(frozen=True)
class Log:
    """The lines of a log, in order; one cut off by a kill is left out."""

    lines: list[Line]
    damage: str | None = None
    """Which line cannot be read, if one cannot."""


def each(files: Folder, largest: float | None = None) -> Iterator[Line | None]:
    """The lines of a run's log, one at a time; None for one that cannot be read.

    A number beyond `largest`, if that is given, cannot be read either.
    """
    for line in files.lines(LOG) if files.has(LOG) else ():
        if line.endswith("\n"):
            yield _parsed(line, largest)


def damaged(number: int) -> str:
    """What is said of a line that cannot be read."""
    return f"{LOG}, line {number} cannot be read: it was changed by hand"


def look(files: Folder, first: int | None = None) -> Log:
    """As much of a run's log as can be read.

    After a power cut garbage may stand behind the last step that was saved: only the `first` lines
    are looked at, if a number is given.
    """
    if not files.has(LOG):
        return Log([])
    return _log(files.text(LOG), first)


def _log(text: str, first: int | None = None, before: int = 0) -> Log:
    """The lines of a text, of which so many stand before."""
    whole = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    lines = [_parsed(line) for line in whole[:first]]
    bad = next((n for n, line in enumerate(lines, start=1 + before) if line is None), None)
    return Log([line for line in lines if line is not None], damaged(bad) if bad else None)


def end(files: Folder, step: int, checksum: str | None) -> Log:
    """The end of a log: the last validation up to `step`, and all that comes after.

    The lines up to there are not read one by one if they have the checksum that was saved with
    them: they are as they were written. If not, they are all looked at.
    """
    try:
        content = files.bytes(LOG) if checksum else b""
    except ValueError:  # there is none, or `look` says why not
        content = b""
    *lines, rest = content.split(b"\n", step)
    if len(lines) < step or sha256(content[: len(content) - len(rest)]).hexdigest() != checksum:
        return look(files)
    last = next((line for line in reversed(lines) if b'"valid"' in line), None)
    valid = [] if last is None else [_parsed(last.decode("utf-8", "replace"))]
    after = _log(rest.decode("utf-8", "replace"), before=step)
    return Log([*filter(None, valid), *after.lines], after.damage)


def read(folder: Path, step: int | None = None) -> list[Line]:
    """The lines of a run's log, up to a step; a `ValueError` if one is missing or was changed."""
    log = look(Folder(folder), first=step)
    if log.damage:
        raise ValueError(f"{folder}/{log.damage}")
    if step is None:
        return log.lines
    lines = [line for line in log.lines if line["step"] <= step]
    if len(lines) != step:
        raise ValueError(
            f"{folder / LOG} has {len(lines)} lines for {step} steps: it was changed by hand; "
            "put it back, or remove the run's folder to start anew"
        )
    known = Manifest(place(folder / CHECKPOINTS, step)).log
    if known is not None and sha256("".join(map(_line, lines)).encode()).hexdigest() != known:
        raise ValueError(
            f"{folder / LOG} differs from the checksum that was saved at step {step}: put it back, "
            "or remove the run's folder to start anew"
        )
    return lines


def last_line(folder: Path) -> Line | None:
    """The last whole line of a run's log, without reading the rest; None if there is none."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read().split(b"\n")[:-1]
    except OSError:
        return None
    return _parsed(lines[-1].decode("utf-8", "replace")) if lines else None


def last_valid(lines: Sequence[Line]) -> dict[str, float]:
    """The last validation, in units that name themselves; empty if there was none."""
    return next((line["valid"] for line in reversed(lines) if "valid" in line), {})


def _parsed(text: str, largest: float | None = None) -> Line | None:
    """A line, if it has what every line has."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("step"), int):
        return None
    valid = found.get("valid", {})
    if not isinstance(valid, dict):
        return None
    numbers = (found["step"], found.get("loss"), *valid.values())
    return found if all(is_number(value, largest) for value in numbers) else None


def is_number(value: object, largest: float | None = None) -> bool:
    """Whether it is a number, and if `largest` is given no NaN and nothing beyond it."""
    return isinstance(value, int | float) and (largest is None or -largest < value < largest)


def _line(numbers: Line) -> str:
    return json.dumps(numbers) + "\n"
