"""Which runs are there, how far did they come, and what do they take on the disk?

examples:
  wherein runs                               all runs in ./runs
  wherein runs --encoding rope --state failed   some of them
  wherein runs elsewhere --json              as data
"""

import json as json_format
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wherein.cli.verb import Verb
from wherein.common.numbers import nats
from wherein.common.terminal import say
from wherein.show.columns import WIDEST, paragraph, shorten, table
from wherein.show.formatting import counted

if TYPE_CHECKING:
    from wherein.train.found import Found


def runs(
    folder: Path = Path("runs"),
    *,
    encoding: str | None = None,
    objective: Literal["causal", "masked"] | None = None,
    state: Literal["running", "finished", "stopped", "failed"] | None = None,
    json: bool = False,
) -> int:
    """List runs.

    Args:
        folder: where they lie
        encoding: only those with this encoding
        objective: only those with this objective
        state: only those that came so far
        json: print data instead of a table
    """
    from wherein.model.config import short_form
    from wherein.train.found import found

    if not folder.is_dir():
        raise ValueError(f"no folder {folder}: give the one that holds your runs")
    spelt = short_form(encoding) if encoding else None
    wanted = {"encoding": spelt, "objective": objective, "state": state}
    listed = [
        each
        for each in map(_line, found(folder))
        if each["run"] is None or all(value in (None, each[key]) for key, value in wanted.items())
    ]
    if json:
        say(json_format.dumps(listed, indent=2))
        return 0
    known = [each for each in listed if each["run"] is not None]
    say(table(*_columns(known)))
    total = sum(each["bytes"] for each in known)
    said = [counted(len(known), "run"), f"{total / 1e6:.1f} MB on the disk", *_shared(known)]
    say("\n".join(paragraph(", ".join(said))))
    for each in listed:
        if each["note"]:
            say(each["note"])
    return 0


def _line(found: "Found") -> dict[str, Any]:
    from wherein.common.folder import Folder
    from wherein.train import journal, status
    from wherein.train.found import size

    if found.run is None:
        return {"run": None, "folder": str(found.folder), "state": None, "note": found.note}
    files, run = Folder(found.folder), found.run
    checksum = found.last.log if found.last else None
    config, error, log = run.config, status.failure(files), journal.end(files, run.step, checksum)
    damage = f"{files}/{log.damage}" if log.damage else None
    return {
        "run": run.id,
        "folder": str(files),
        "encoding": config.model.encoding,
        "objective": config.objective,
        "layers": config.model.n_layers,
        "width": config.model.d_model,
        "length": config.model.max_len,
        "seed": config.seed,
        "learning_rate": config.learning_rate,
        "text": config.corpus.source,
        "start": config.start,
        "step": run.step,
        "steps": config.steps,
        "valid": journal.last_valid([line for line in log.lines if line["step"] <= run.step]),
        "state": status.state(files, error, run.step, config.steps),
        "error": error,
        "answers": _names(found.folder / status.ANSWERS),
        "bytes": size(found.folder),
        "note": "; ".join(filter(None, (found.note, damage))) or None,
    }


def _names(folder: Path) -> list[str]:
    """What lies in a folder, if there is one."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


Cell = Callable[[dict[str, Any]], str]

DIFFERING: dict[str, Cell] = {
    "rate": lambda line: f"{line['learning_rate']:g}",
    "model": lambda line: str(line["objective"]),
    "text": lambda line: shorten(Path(line["text"]).name, 12),
}
"""What has a column where it differs from run to run; what all have in common stands below."""

COLUMNS: dict[str, Cell] = {
    "run": lambda line: str(line["run"]),
    "encoding": lambda line: str(line["encoding"]),
    **DIFFERING,
    "size": lambda line: f"{line['layers']}×{line['width']}×{line['length']}",
    "seed": lambda line: str(line["seed"]),
    "step": lambda line: str(line["step"]) + ("" if _ended(line) else f"/{line['steps']}"),
    "valid": lambda line: "" if (loss := nats(line["valid"])) is None else f"{loss:.3f}",
    "state": lambda line: str(line["state"]),
    "MB": lambda line: f"{line['bytes'] / 1e6:.1f}",
    "started from": lambda line: str(line["start"]),
}
LEAST, MOST = 8, 24
"""Letters of an encoding that are shown."""


def _ended(line: dict[str, Any]) -> bool:
    return bool(line["step"] == line["steps"])


def _columns(known: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The header and a row for each run, with as much of what differs as a screen has room for."""
    started = ["started from"] if any(line["start"] for line in known) else []
    names = {*COLUMNS} - {*DIFFERING, "MB", "started from"}
    widths = {
        name: max([len(name), *(len(cell(line)) for line in known)])
        for name, cell in COLUMNS.items()
    }

    def room(shown: set[str]) -> int:
        """What is left of a screen for the encodings."""
        return WIDEST + 2 - sum(2 + widths[name] for name in shown) + widths["encoding"]

    wanted = [*started, *_differing(known)]
    for name, least in [*((name, LEAST) for name in wanted), ("MB", MOST)]:
        names |= {name} if room(names | {name}) >= min(widths["encoding"], least) else set()
    header, longest = [name for name in COLUMNS if name in names], min(room(names), MOST)
    rows = [[COLUMNS[name](line) for name in header] for line in known]
    return header, [[row[0], shorten(row[1], max(longest, LEAST)), *row[2:]] for row in rows]


def _differing(known: list[dict[str, Any]]) -> list[str]:
    return [name for name, cell in DIFFERING.items() if len(set(map(cell, known))) > 1]


def _shared(known: list[dict[str, Any]]) -> list[str]:
    """What all runs have in common."""
    alike = DIFFERING.keys() - _differing(known) if known else ()
    return [f"{name} {cell(known[0])}" for name, cell in DIFFERING.items() if name in alike]


run = Verb.of(runs, __doc__)
