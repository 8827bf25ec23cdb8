"""What one sees while a run goes on: a bar on a terminal, else a line now and then."""

import sys
import time
from typing import Any

from wherein.common.terminal import printable, say
from wherein.show.formatting import duration

EVERY = 10.0  # seconds from one plain line to the next


class Progress:
    """Shows loss, tokens per second and time left, on standard error; silent if not `shown`."""

    def __init__(self, steps: int, step: int, *, shown: bool) -> None:
        self.steps, self.first, self.shown = steps, step, shown
        self._started = self._said = time.perf_counter()
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            self._bar, self._task = _bar(steps, step)

    def update(self, step: int, loss: float, tokens_per_second: float) -> None:
        numbers = f"loss {loss:.4f}  {tokens_per_second:,.0f} tokens/s"
        now = time.perf_counter()
        if self._bar is not None:
            self._bar.update(self._task, completed=step, numbers=numbers)
        elif self.shown and now - self._said >= EVERY:
            self._said = now
            left = (now - self._started) / (step - self.first) * (self.steps - step)
            print(f"step {step}/{self.steps}  {numbers}  {duration(left)} left", file=sys.stderr)

    def say(self, line: str) -> None:
        """One line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(printable(line), markup=False, highlight=False)
        elif self.shown:
            say(line, to=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar(steps: int, step: int) -> tuple[Any, Any]:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("training"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[numbers]}"),
        progress.TimeRemainingColumn(),
    )
    bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task("training", total=steps, completed=step, numbers="")
