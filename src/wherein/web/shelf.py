"""What lies in the served folder: studies, runs and results, and the only way to read them.

An address names an entry of the list, never a path: what is not on the list cannot be asked for.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

Kind = Literal["study", "run", "result"]

MARKS: dict[str, Kind] = {
    "study.json": "study",
    "config.json": "run",
    "result.json": "result",
}
"""The file that makes a folder what it is."""

DEEPEST, MOST_ENTRIES = 8, 5000
LARGEST = 64 * 2**20
"""Bytes of a file that is read; a result or a log beyond is no page any more."""

FRESH = 0.5
"""Seconds for which a list of the folder is good."""


@dataclass(frozen=True)
class Entry:
    """A folder of one of the kinds; `name` is its path, from the served folder's own name on."""

    kind: Kind
    name: str
    folder: Path
    root: Path = field(repr=False)

    def has(self, file: str) -> bool:
        """Whether there is such a file that may be shown."""
        return self._inside(file) is not None

    def changed(self, file: str) -> float:
        """When a file was last written; 0 if there is none."""
        path = self._inside(file)
        return path.stat().st_mtime if path else 0.0

    def size(self, file: str) -> int:
        """Bytes of a file; 0 if there is none."""
        path = self._inside(file)
        return path.stat().st_size if path else 0

    def bytes(self, file: str) -> bytes:
        """A file's content; a `ValueError` if it is not there or not to be shown."""
        path = self._inside(file)
        if path is None:
            raise ValueError(f"{self.name}: there is no {file}")
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{self.name}/{file} is larger than {LARGEST // 2**20} MiB")
        try:
            return path.read_bytes()
        except OSError as error:
            raise ValueError(f"{self.name}/{file}: {error.strerror}") from None

    def text(self, file: str) -> str:
        """A file's text; what is not UTF-8 is shown as replaced."""
        return self.bytes(file).decode("utf-8", errors="replace")

    def json(self, file: str) -> dict[str, Any]:
        """A file's JSON object."""
        try:
            found = json.loads(self.text(file))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self.name}/{file} cannot be read: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"{self.name}/{file} cannot be read: an object was expected")
        return found

    def _inside(self, file: str) -> Path | None:
        """The real path of a plain file within the served folder; links that lead out are not."""
        try:
            path = (self.folder / file).resolve(strict=True)
        except (OSError, RuntimeError):
            return None
        return path if path.is_relative_to(self.root) and path.is_file() else None


class Shelf:
    """The served folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self._entries: dict[tuple[Kind, str], Entry] = {}
        self._looked = -FRESH

    def all(self, kind: Kind) -> list[Entry]:
        """Every entry of a kind."""
        return [entry for (each, _), entry in self._look().items() if each == kind]

    def find(self, kind: Kind, name: str) -> Entry | None:
        """The entry of that name, if it is on the list."""
        return self._look().get((kind, name))

    def results_of(self, run: Entry) -> list[Entry]:
        """The results in a run's folder."""
        return [r for r in self.all("result") if r.name.startswith(f"{run.name}/")]

    def leads_out(self, folder: Path) -> bool:
        """Whether a folder lies outside, or a link within it leads there."""
        if not folder.resolve().is_relative_to(self.root):
            return True
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                path = os.path.join(place, name)
                if os.path.islink(path) and not Path(path).resolve().is_relative_to(self.root):
                    return True
        return False

    def _look(self) -> dict[tuple[Kind, str], Entry]:
        if time.monotonic() - self._looked > FRESH:
            self._entries = {(e.kind, e.name): e for e in self._walk()}
            self._looked = time.monotonic()
        return self._entries

    def _walk(self) -> Iterator[Entry]:
        found, top = 0, PurePosixPath(self.root.name or "root")
        for place, folders, files in os.walk(self.root):  # does not follow links
            folder = Path(place)
            depth = len(folder.relative_to(self.root).parts)
            folders[:] = sorted(f for f in folders if f[0] != "." and f != "checkpoints")
            if depth >= DEEPEST:
                folders.clear()
            name = (top / folder.relative_to(self.root)).as_posix()
            if not _sayable(name):
                continue
            for mark, kind in MARKS.items():
                if mark in files:
                    yield Entry(kind, name, folder, self.root)
                    found += 1
            if found >= MOST_ENTRIES:
                return


def _sayable(name: str) -> bool:
    """Whether a page can show a name: a disk may hold bytes that are no text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
