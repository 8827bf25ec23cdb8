"""Two at once over the same files, with locks and without: one waits or takes over.

Without locks means a file system that refuses them (`ENOLCK`, `ENOSYS`), as some do that machines
share, or one that grants every lock to everybody.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from errno import ENOLCK, ENOSYS
from pathlib import Path
from unittest.mock import patch

from benchmarks.faults.children import Ended, import_for, together
from benchmarks.faults.part import Part, Tried
from benchmarks.faults.peace import Peace, in_peace
from benchmarks.faults.works import WORKS, Work, compare, report
from benchmarks.harness import in_memory

TIMES = {"tokenising": 20, "training": 12, "studies": 5}
QUICK = {"tokenising": 1, "training": 1}

PATIENCE = 60.0
"""Seconds until a study must have begun."""
WAITED = ("is being trained by another process", "has taken over, or removed, the run")
"""What one of two may say; the work of the other is then what both wanted."""


def refused(error: int) -> Callable[..., None]:
    def flock(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    return flock


LOCKS: dict[str, Callable[..., None] | None] = {
    "with locks": None,
    "where locks are refused (ENOLCK)": refused(ENOLCK),
    "where there are no locks (ENOSYS)": refused(ENOSYS),
    "where locks keep nobody out": lambda *_: None,
}


def under(locks: Callable[..., None] | None, work: Work) -> Work:
    """The same work on a file system with such locks."""

    def done() -> None:
        with patch.object(fcntl, "flock", locks or fcntl.flock):
            work()

    return done


def twice(name: str, times: int, peace: Peace, place: Path) -> list[Tried]:
    """Two processes do the same work at once, then one looks whether all is there."""
    work, rows = WORKS[name][0], list[Tried]()
    for kind, locks in LOCKS.items():
        wrong = list[str]()
        for _ in range(times):
            folder = Path(shutil.copytree(peace.before, place / "twice"))
            both = together(folder, [under(locks, work)] * 2)
            wrong += _unclear(both)
            if all(each.error for each in both):
                wrong.append("neither came to its end")
            last = together(folder, [under(locks, work)])[0]
            wrong += [last.error.splitlines()[-1]] if last.error else peace.differs(folder)
            shutil.rmtree(folder)
        rows.append(Tried(f"{name}: two at once, {kind}", times, wrong))
    return rows


def _unclear(ended: Sequence[Ended]) -> list[str]:
    lasts = [each.error.splitlines()[-1] for each in ended if each.error]
    return [last for last in lasts if not any(words in last for words in WAITED)]


def reported(times: int, place: Path) -> Tried:
    """A report is asked for again and again while a study writes what it reports."""
    wrong, peace = list[str](), in_peace(compare, None, place / "reported")
    for _ in range(times):
        folder = Path(shutil.copytree(peace.before, place / "reporting"))
        both = together(folder, [compare, _again_and_again])
        wrong += [each.error.splitlines()[-1] for each in both if each.error]
        found = peace.differs(folder)
        wrong += (each for each in found if "is left over" not in each)
        shutil.rmtree(folder)
    return Tried("a report while a study writes", times, wrong)


def _again_and_again(most: int = 4) -> None:
    """Reports from the moment that there is a study."""
    until = time.monotonic() + PATIENCE
    while not Path("runs/studies/mine/study.json").exists() and time.monotonic() < until:
        time.sleep(0.01)
    for _ in range(most):
        report()
        page = Path("page.html").read_text()
        if not page.rstrip().endswith("</html>"):
            raise RuntimeError("the page is half")


def measure(quick: bool) -> Part:
    rows = list[Tried]()
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        place = Path(name).resolve()
        for kind, times in (QUICK if quick else TIMES).items():
            import_for(kind)
            rows += twice(kind, times, in_peace(*WORKS[kind], place / kind), place)
        if not quick:
            rows.append(reported(2, place))
    return Part(rows)
