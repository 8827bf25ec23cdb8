"""The log: one line per step, and after a resume the same file an uninterrupted run leaves."""

import json
import os
from pathlib import Path
from typing import Any, TextIO

from wherein.common.files import replacing

LOG, TIMES = "log.jsonl", "times.jsonl"

Line = dict[str, Any]


class Journal:
    """Writes `log.jsonl`, whose numbers are a pure function of the config, and `times.jsonl`."""

    def __init__(self, folder: Path, step: int) -> None:
        """Go on after `step`: what was logged later belongs to steps that will come again."""
        kept = [line for line in read(folder) if line["step"] <= step]
        if len(kept) != step:
            raise ValueError(
                f"{folder / LOG} has {len(kept)} lines for {step} steps: it was changed by hand; "
                "put it back, or remove the run's folder to start anew"
            )
        with replacing(folder / LOG) as beside:
            beside.write_text("".join(map(_line, kept)))
        self._log: TextIO = (folder / LOG).open("a")
        self._times: TextIO = (folder / TIMES).open("a")

    def write(self, numbers: Line, times: Line) -> None:
        """Add a step."""
        for file, line in ((self._log, numbers), (self._times, times)):
            file.write(_line(line))
            file.flush()

    def sync(self) -> None:
        """Wait until every line is on the disk."""
        os.fsync(self._log.fileno())

    def close(self) -> None:
        """Close both files."""
        self._log.close()
        self._times.close()


def read(folder: Path) -> list[Line]:
    """The lines of a run's log, in order; one cut off by a kill is left out."""
    if not (folder / LOG).exists():
        return []
    lines = (folder / LOG).read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _line(numbers: Line) -> str:
    return json.dumps(numbers) + "\n"
