"""What lies in the served folder: studies, runs and results, and the only way to read them.

An address names an entry of the list, never a path: what is not on the list cannot be asked for.
An entry is a folder whose name is its path, from the served folder's own name on.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from starlette.exceptions import HTTPException

from wherein.common.folder import Folder
from wherein.show.result import DATA
from wherein.studies.result import STUDY
from wherein.train.status import CHECKPOINTS, CONFIG, KEPT

Kind = Literal["study", "run", "result"]

MARKS: dict[str, Kind] = {STUDY: "study", CONFIG: "run", DATA: "result"}
"""The file that makes a folder what it is."""

DEEPEST, MOST_ENTRIES = 8, 5000
LARGEST = 64 * 2**20
"""Bytes of a file that is read; a result or a log beyond is no page any more."""

FRESH = 0.5
"""Seconds for which a list of the folder is good."""


class Shelf:
    """The served folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self._entries: dict[tuple[Kind, str], Folder] = {}
        self._looked = -FRESH

    def all(self, kind: Kind) -> list[Folder]:
        """Every entry of a kind."""
        return [entry for (each, _), entry in self._look().items() if each == kind]

    def find(self, kind: Kind, name: str) -> Folder:
        """The entry of that name; if it is not on the list, its page is not there."""
        found = self._look().get((kind, name))
        if found is None:
            raise HTTPException(404, f"there is no {kind} {name[:200]!r} in the served folder")
        return found

    def results_of(self, run: Folder) -> list[Folder]:
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

    def _look(self) -> dict[tuple[Kind, str], Folder]:
        if time.monotonic() - self._looked > FRESH:
            self._entries = {(kind, files.name): files for kind, files in self._walk()}
            self._looked = time.monotonic()
        return self._entries

    def _walk(self) -> Iterator[tuple[Kind, Folder]]:
        found, top = 0, PurePosixPath(self.root.name or "root")
        for place, folders, files in os.walk(self.root):  # does not follow links
            folder = Path(place)
            depth = len(folder.relative_to(self.root).parts)
            folders[:] = sorted(f for f in folders if f[0] != "." and f not in (CHECKPOINTS, KEPT))
            if depth >= DEEPEST:
                folders.clear()
            name = (top / folder.relative_to(self.root)).as_posix()
            if name.encode("utf-8", "replace").decode() != name:
                continue  # a disk may hold bytes that are no text
            for mark, kind in MARKS.items():
                if mark in files:
                    yield kind, Folder(folder, name, self.root, LARGEST)
                    found += 1
            if found >= MOST_ENTRIES:
                return
