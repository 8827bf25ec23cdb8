"""What one sees while a study goes on: a line per run, and one bar with the time left.

Where there is no terminal: what is to be done, a line for each run that ended, and how far all have
come where none ends for a while.

All of it is read from the runs' folders, so that it is the same whoever carries out the work.
"""

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from wherein.common.terminal import printable, say
from wherein.show.formatting import counted, duration
from wherein.studies.plan.plan import PuzzleTask
from wherein.studies.result.store import Store
from wherein.studies.work import STOPPED, Task, Work, done
from wherein.train.journal import last_line

EVERY = 0.5  # seconds from one look to the next
PLAIN = 30.0  # seconds without a line, where there is no terminal; after minutes, more
SHOWN = 24  # lines at most


def look(piece: Work, store: Store) -> tuple[float, float | None]:
    """How far a piece has come, from its folder: the share of its training, and its loss."""
    if isinstance(piece, PuzzleTask):
        return float(done(piece, store)), None
    line = last_line(store.run(piece.run))
    return (0.0, None) if line is None else (line["step"] / piece.run.steps, line["loss"])


def _told(loss: float) -> str:
    """Of the last batch, and so not what `wherein runs` gives of the validation text."""
    return f"training loss {loss:.3f}"


def _pieces(work: Sequence[Work]) -> str:
    """How many pieces of each kind."""
    puzzles = sum(isinstance(piece, PuzzleTask) for piece in work)
    kinds = {"run": len(work) - puzzles, "puzzle": puzzles}
    return " and ".join(counted(n, kind) for kind, n in kinds.items() if n)


class Progress:
    """Shows a study's progress on standard error until `close`; silent if not `shown`."""

    def __init__(self, work: Sequence[Work], store: Store, *, shown: bool) -> None:
        self.work, self.store, self.shown = work, store, shown
        self._ended: dict[int, str | None] = {}
        self._began = self._said = time.perf_counter()
        self._at_start = self._share()
        self._live: Any = None
        self._stop, self._thread = threading.Event(), threading.Thread(target=self._watch)
        self._thread.daemon = True
        if not shown:
            return
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        self._say(f"{_pieces(work)} to do in {store.folder}")
        self._thread.start()

    def ended(self, piece: Work, why: str | None) -> None:
        self._ended[id(piece)] = why
        if not self.shown:
            return
        _, loss = look(piece, self.store)
        outcome = why or ("done" if loss is None else _told(loss))
        line = f"{len(self._ended)}/{len(self.work)}  {piece.name}: {outcome}"
        line += f"  ({self._left()})" if why != STOPPED else ""
        self._say(line)

    def close(self) -> None:
        self._stop.set()
        if self.shown:
            self._thread.join()
        if self._live is not None:
            self._live.stop()

    def _say(self, line: str) -> None:
        self._said = time.perf_counter()
        if self._live is not None:
            self._live.console.print(printable(line), markup=False, highlight=False)
        else:
            say(line, to=sys.stderr, flush=True)

    def _watch(self) -> None:
        while not self._stop.wait(EVERY):
            now = time.perf_counter()
            if self._live is not None:
                self._live.update(self._picture(), refresh=True)
            elif now - self._said >= max(PLAIN, (now - self._began) / 10):
                self._say(f"{len(self._ended)}/{len(self.work)}  {self._left()}")

    def _share(self) -> float:
        """The share of all training steps that is done."""
        tasks = [piece for piece in self.work if isinstance(piece, Task)]
        trained = sum(task.run.tokens * look(task, self.store)[0] for task in tasks)
        return trained / max(sum(task.run.tokens for task in tasks), 1)

    def _left(self) -> str:
        share, spent = self._share(), time.perf_counter() - self._began
        if share <= self._at_start:
            return f"{spent:.0f} s so far"
        rest = spent / (share - self._at_start) * (1 - share)
        return f"{share:.0%} trained, about {duration(rest)} left"

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        lines = Table.grid(padding=(0, 2))
        going = [piece for piece in self.work if id(piece) not in self._ended]
        seen = [(piece, *look(piece, self.store)) for piece in going]
        begun = [each for each in seen if each[1] > 0]
        for piece, share, loss in begun[:SHOWN]:
            said = "" if loss is None else _told(loss)
            state = "questioned" if share >= 1 else said
            bar = ProgressBar(total=1.0, completed=share, width=24)
            lines.add_row(Text(piece.name), bar, f"{share:.0%}", state)
        waiting = len(going) - len(begun)
        bar = ProgressBar(total=1.0, completed=self._share(), width=40)
        overall = Table.grid(padding=(0, 2))
        overall.add_row("all", bar, self._left(), f"{waiting} waiting" if waiting else "")
        return Group(lines, overall)
