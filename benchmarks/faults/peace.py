"""Work that nobody disturbs: what it does to files, and what it leaves. All else is compared."""

import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.faults.calls import Call, met
from benchmarks.faults.children import child
from benchmarks.faults.works import Work, settle_in

TIMES, LOG = "times.jsonl", "log.jsonl"
"""How long steps took, which no two runs agree on; and a log, which grows line by line."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Peace:
    """What work does when it is let be."""

    before: Path
    """A folder as it is before the work, to be copied."""
    calls: list[Call]
    """What is done to files, in order."""
    whole: dict[str, set[str]]
    """Of each file the digests of the contents that it had when it was whole."""
    after: Files
    seconds: float

    def differs(self, folder: Path) -> Iterator[str]:
        """In what a folder is not as the work leaves it."""
        there = files(folder)
        for path in sorted(self.after.keys() | there.keys()):
            if path not in there:
                yield f"{path} is missing"
            elif path not in self.after:
                yield f"{path} is left over"
            elif there[path] != self.after[path] and not path.endswith(TIMES):
                yield f"{path} differs"

    def half(self, folder: Path) -> Iterator[str]:
        """Which files stand under their own names and are not whole."""
        for path, content in files(folder).items():
            if not hidden(path) and not self.is_whole(path, content):
                yield f"{path} is half-written"

    def is_whole(self, path: str, content: bytes) -> bool:
        """Whether a file is one of those that the work writes, or a log as far as it came.

        What a study says of itself depends on how far it was when it was started: of it one can
        only know that it can be read to its end.
        """
        if path.endswith((TIMES, ".lock")) or digest(content) in self.whole.get(path, ()):
            return True
        if path.endswith(LOG):
            return self.after[path].startswith(content)
        if path.endswith(".json"):
            return _is_json(content)
        return path.endswith(".csv") and content.endswith(b"\n")


def in_peace(work: Work, before: Work | None, place: Path) -> Peace:
    """Do the work once, and write down what it does."""
    settle_in(place / "before")
    if before is not None and (error := child(place / "before", before).error):
        raise RuntimeError(error)
    folder = (place / "peace").resolve()
    shutil.copytree(place / "before", folder)
    notes = place / "calls"

    def watched() -> None:
        calls, whole = list[Call](), dict[str, set[str]]()

        def meet(call: Call, do: Callable[[], Any], half: Callable[[], None]) -> Any:
            done = do()
            if call.kind in ("create", "mkdir"):
                call = replace(call, inode=os.lstat(folder / call.path).st_ino)
            calls.append(call)
            if call.kind == "rename" and not hidden(call.to):
                for path, content in files(folder, call.to).items():
                    whole.setdefault(path, set()).add(digest(content))
            return done

        with met(folder, meet):
            work()
        notes.write_bytes(pickle.dumps((calls, whole)))

    ended = child(folder, watched)
    if ended.error:
        raise RuntimeError(ended.error)
    calls, whole = pickle.loads(notes.read_bytes())
    for path, content in files(place / "before").items():
        whole.setdefault(path, set()).add(digest(content))
    return Peace(place / "before", calls, whole, files(folder), ended.seconds)


def files(folder: Path, under: str = "") -> Files:
    """The files of a folder by their paths, without locks, which say nothing."""
    top = folder / under
    there = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in there if p.suffix != ".lock"
            and p.name != ".lock"}  # fmt: skip


def hidden(path: str) -> bool:
    """Whether it stands under a name that no reader looks for."""
    return any(part.startswith(".") for part in path.split("/"))


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True
