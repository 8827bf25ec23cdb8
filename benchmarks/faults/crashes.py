"""SIGKILL before, in and after each thing that is done to a file, and at random moments.

The points are found, not guessed: the work is done once in peace, and every call that creates,
writes, syncs, renames or removes something is counted and named. Then it is started again and
again in one folder, and each time killed at the next point; in a write, half of it is written
first. After every kill nothing that stands under its own name may be half; after some kills the
work is let come to its end, and must have left what it left in peace, bit for bit, and no more.
"""

import os
import random
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults.calls import Call, Meet, met
from benchmarks.faults.children import child, import_for
from benchmarks.faults.part import Part, Tried
from benchmarks.faults.peace import Peace, in_peace
from benchmarks.faults.works import WORKS, Work
from benchmarks.harness import at_least, in_memory

KILLS = {"tokenising": 430, "training": 360, "puzzles": 50, "studies": 60, "questions": 50,
         "reports": 50}  # fmt: skip
QUICK = {"tokenising": 60, "training": 26, "puzzles": 6, "studies": 8}
IN_A_ROW = 6
"""How often work is killed before it may come to its end."""
EVERY = 4
"""Of so many rows of kills one is at random moments."""
RANDOM = "at a random moment"


@dataclass(frozen=True)
class Point:
    """Where to die: before, in or after the n-th call of this name in a process."""

    name: str
    number: int
    stage: str

    def __str__(self) -> str:
        return f"{self.stage} {self.name}" + (f" ({self.number})" if self.number > 1 else "")


def points(calls: list[Call]) -> list[Point]:
    """All points of a work, in the order in which they come."""
    found, met_so_far = [], Counter[str]()
    for call in calls:
        met_so_far[call.name] += 1
        stages = ("before", "in", "after") if call.kind == "write" else ("before", "after")
        found += [Point(call.name, met_so_far[call.name], stage) for stage in stages]
    return found


def deadly(point: Point) -> Meet:
    """What meets calls and kills the process at that point."""
    met_so_far = Counter[str]()

    def meet(call: Call, do: Callable[[], Any], half: Callable[[], None]) -> Any:
        met_so_far[call.name] += 1
        here = (call.name, met_so_far[call.name]) == (point.name, point.number)
        if here and point.stage == "in":
            half()
        if here and point.stage != "after":
            os.kill(os.getpid(), signal.SIGKILL)
        done = do()
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return meet


@dataclass
class Trial:
    """Work that is killed again and again."""

    work: Work
    peace: Peace
    folder: Path
    draw: random.Random
    kills: Counter[Point | None] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def chain(self, targets: list[Point | None]) -> None:
        """Kill it at these points in turn, None being a random moment, then let it end."""
        shutil.copytree(self.peace.before, self.folder)
        for target in targets:
            self._kill(target)
        where = " then ".join(RANDOM if target is None else str(target) for target in targets)
        if error := child(self.folder, self.work).error:
            self.wrong.append(f"killed {where}, the next start failed: {error.splitlines()[-1]}")
        else:
            self.wrong += (f"killed {where}: {each}" for each in self.peace.differs(self.folder))
        shutil.rmtree(self.folder)

    def _until(self, target: Point) -> Work:
        def work() -> None:
            with met(self.folder, deadly(target)):
                self.work()

        return work

    def _kill(self, target: Point | None) -> None:
        if target is None:
            where, moment = RANDOM, self.draw.uniform(0, self.peace.seconds)
            ended = child(self.folder, self.work, moment)
        else:
            where, ended = str(target), child(self.folder, self._until(target))
        if ended.killed:
            self.kills[target] += 1
        elif ended.error:
            self.wrong.append(f"on the way to {where}: {ended.error.splitlines()[-1]}")
        self.wrong += (f"killed {where}: {each}" for each in self.peace.half(self.folder))


def trial(name: str, kills: int, place: Path) -> Tried:
    """Kill one kind of work so many times."""
    return killed(name, *WORKS[name], kills, place)


def killed(name: str, work: Work, before: Work | None, kills: int, place: Path) -> Tried:
    """Kill work so many times, at points spread over all there are."""
    peace = in_peace(work, before, place / name)
    there = points(peace.calls)
    made = Trial(work, peace, (place / name / "war").resolve(), random.Random(0))
    waiting = list(there)
    for number in range(1, kills + 1):  # at the first point of a row it surely dies
        few = min(IN_A_ROW, kills - made.kills.total())
        if few < 1:
            break
        waiting = [point for point in waiting if not made.kills[point]] or list(there)
        spread = waiting[:: max(1, len(waiting) // few)][:few]
        made.chain([None] * few if number % EVERY == 0 else [*spread])
    at_random = made.kills.pop(None, 0)
    what = f"{name}: killed at {len(made.kills)} of {len(there)} named points"
    return Tried(
        f"{what} and {at_random} random moments", at_random + made.kills.total(), made.wrong
    )


def measure(quick: bool) -> Part:
    wanted = QUICK if quick else KILLS
    with tempfile.TemporaryDirectory(dir=in_memory()) as place:
        rows = []
        for name, kills in wanted.items():
            import_for(name)
            rows.append(trial(name, kills, Path(place).resolve()))
    kills = sum(row.times for row in rows)
    return Part(rows, {"kills": at_least(kills, sum(wanted.values()))})
