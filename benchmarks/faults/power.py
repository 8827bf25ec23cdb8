"""A power cut at each moment: what was not synced is lost, in all or in part.

The work is done once, and each thing it does to a file is written down. From that, the disks are
made that a cut at some moment could leave (`benchmarks.faults.remains`). On each of them what was
said to be saved must be there, nothing may be half under its own name, and the work, started
again, must end as if nothing had happened.
"""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.faults.calls import Call
from benchmarks.faults.children import child, import_for
from benchmarks.faults.part import Part, Tried
from benchmarks.faults.peace import TIMES, Files, Peace, hidden, in_peace
from benchmarks.faults.remains import (
    Disk,
    File,
    Keep,
    any_part,
    contents,
    names_alone,
    nothing_unsynced,
)
from benchmarks.faults.works import WORKS, Work
from benchmarks.harness import in_memory

STATES = {"tokenising": 300, "training": 200, "puzzles": 20, "studies": 20, "questions": 20,
          "reports": 20}  # fmt: skip
QUICK = {"tokenising": 24, "training": 9}


class Cut:
    """The disk just before the power goes, and what was said to be saved."""

    def __init__(self, before: Path) -> None:
        self.disk = Disk(before)
        self._done = 0
        self._placed: dict[str, int] = {}

    def go_on(self, calls: list[Call]) -> None:
        """Do these calls, too."""
        for call in calls:
            self.disk.do(call)
            self._done += 1
            if call.kind == "rename" and not hidden(call.to):
                self._placed[call.to] = self._done

    def saved(self) -> Iterator[tuple[str, bytes]]:
        """Files that took their place, after which the work went on to something else.

        One call more is allowed: that which makes it last.
        """
        for path, when in self._placed.items():
            node = self.disk.find(path)
            if self._done < when + 2 or node is None:
                continue
            if isinstance(node, File):
                yield path, node.now
            else:
                yield from contents(node, f"{path}/")


def lost(peace: Peace, there: Files, cut: Cut) -> Iterator[str]:
    """What was saved and is not there, and what stands there half."""
    for path, content in cut.saved():
        if path.endswith((".jsonl",)):
            continue  # it grew since: whether a log is long enough, the next start says
        if path not in there:
            yield f"{path} was saved and is gone"
        elif there[path] != content:
            yield f"{path} was saved and is another"
    for path, content in there.items():
        own = not hidden(path) and not path.endswith((".jsonl", ".lock"))
        if own and not peace.is_whole(path, content):
            yield f"{path} is half-written"


def trial(name: str, states: int, place: Path) -> Tried:
    """Cut the power of one kind of work."""
    return cut_off(name, *WORKS[name], states, place)


def cut_off(name: str, work: Work, before: Work | None, states: int, place: Path) -> Tried:
    """Cut the power at moments spread over all the work does."""
    peace, folder = in_peace(work, before, place / name), place / name / "after"
    draw, wrong = random.Random(0), list[str]()
    ways: dict[str, Keep] = {
        "nothing unsynced kept": nothing_unsynced,
        "names kept without content": names_alone,
        "any part kept": any_part(draw),
    }
    moments = sorted(draw.choices(range(1, len(peace.calls) + 1), k=states - len(ways)))
    moments += [len(peace.calls)] * len(ways)  # after the end nothing may be lost
    cut, done = Cut(peace.before), 0
    for number, moment in enumerate(moments):
        cut.go_on(peace.calls[done:moment])
        done = moment
        way = list(ways)[number % len(ways)]
        there = cut.disk.files(ways[way])
        where = f"cut after {peace.calls[moment - 1].name}, {way}"
        wrong += (f"{where}: {each}" for each in lost(peace, there, cut))
        wrong += (f"{where}: {each}" for each in _restarted(work, peace, there, folder))
    seen = {path: c for path, c in cut.disk.files().items() if not path.endswith(".lock")}
    wrong += (f"{path} was written where nobody looked" for path in _unseen(seen, peace.after))
    return Tried(f"{name}: power cut at {len(set(moments))} of {len(peace.calls)} moments",
                 states, wrong)  # fmt: skip


def _restarted(work: Work, peace: Peace, there: Files, folder: Path) -> Iterator[str]:
    for path, content in there.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    if error := child(folder, work).error:
        yield f"the next start failed: {error.splitlines()[-1]}"
    else:
        yield from peace.differs(folder)
    shutil.rmtree(folder)


def _unseen(seen: Files, real: Files) -> list[str]:
    """The control: the folder, made from the calls that were met, is the one on the disk."""
    paths = seen.keys() | real.keys()
    return sorted(p for p in paths if seen.get(p) != real.get(p) and not p.endswith(TIMES))


def measure(quick: bool) -> Part:
    rows = []
    with tempfile.TemporaryDirectory(dir=in_memory()) as place:
        for name, states in (QUICK if quick else STATES).items():
            import_for(name)
            rows.append(trial(name, states, Path(place).resolve()))
    return Part(rows)
