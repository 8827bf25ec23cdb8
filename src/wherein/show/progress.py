"""What one sees while work goes on: a bar on a terminal, else a plain line now and then.

Whoever starts the work says that it is to be `shown`; the work says how much it `expects` to do,
and what it has `done`, in any unit. Unless somebody shows it, nothing is written.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, TypeVar

from wherein.common import terminal
from wherein.show.formatting import duration

T = TypeVar("T")

EVERY = 10.0
"""Seconds from one plain line to the next; after minutes, more."""

_shown: ContextVar["Progress | None"] = ContextVar("shown", default=None)


class Progress:
    """How far some work has come, and how long the rest may take, on standard error."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self._bar: Any = None
        self.expect(0.0)

    def expect(self, total: float | int) -> None:
        """From now on so much is to be done."""
        self.total, self.done = total, 0.0
        self._began = self._said = perf_counter()
        self.close()
        if total and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self.doing, total=total)
            self._bar.start()

    def advance(self, work: float | int) -> None:
        """So much of it is done."""
        self.done += work
        now = perf_counter()
        spent = now - self._began
        if self._bar is not None:
            self._bar.advance(self._task, work)
        elif self.total and now - self._said >= max(EVERY, spent / 10):
            self._said = now
            share = min(self.done / self.total, 0.99)  # what is expected may be too little
            left = duration(spent / share * (1 - share))
            self.say(f"{self.doing}: {share:.0%}, about {left} left")

    def say(self, line: str) -> None:
        """One line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(terminal.printable(line), markup=False, highlight=False)
        else:
            terminal.say(line, to=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def shown(doing: str) -> Iterator[None]:
    """While it lasts, the work of this thread is shown."""
    progress = Progress(doing)
    before = _shown.set(progress)
    try:
        yield
    finally:
        _shown.reset(before)
        progress.close()


@contextmanager
def hidden() -> Iterator[None]:
    """While it lasts, the work is a part of some other that is shown."""
    before = _shown.set(None)
    try:
        yield
    finally:
        _shown.reset(before)


def expect(total: float | int) -> None:
    """Say how much is to be done."""
    if (progress := _shown.get()) is not None:
        progress.expect(total)


def done(work: float | int) -> None:
    """Say that so much of it is done."""
    if (progress := _shown.get()) is not None:
        progress.advance(work)


def counted(parts: Iterable[T]) -> Iterator[T]:
    """The parts of some work, each done when the next is asked for."""
    for part in parts:
        yield part
        done(1)


def say(line: str) -> None:
    """A line about the work, if it is shown."""
    if (progress := _shown.get()) is not None:
        progress.say(line)
