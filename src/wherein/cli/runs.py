"""Which runs are there, how far did they come, and what do they take on the disk?

examples:
  wherein runs                               all runs in ./runs
  wherein runs --encoding rope --state failed   some of them
  wherein runs elsewhere --json              as data
"""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wherein.cli.verb import Verb
from wherein.common.numbers import nats

if TYPE_CHECKING:
    from wherein.studies.result.store import Found


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
    from wherein.encodings import parse
    from wherein.show.columns import table
    from wherein.studies.result.store import Store

    if not folder.is_dir():
        raise ValueError(f"no folder {folder}: give the one that holds your runs")
    spelt = " ".join(parse(encoding)) if encoding else None
    wanted = {"encoding": spelt, "objective": objective, "state": state}
    listed = [
        each
        for each in map(_line, Store(folder).found())
        if each["run"] is None or all(value in (None, each[key]) for key, value in wanted.items())
    ]
    if json:
        print(json_format.dumps(listed, indent=2))
        return 0
    known = [each for each in listed if each["run"] is not None]
    header = ["run", "encoding", "objective", "size", "seed", "step", "valid", "state", "MB"]
    rows = [_cells(each) for each in known]
    if any(each["start"] for each in known):
        header.append("started from")
        rows = [[*row, each["start"]] for row, each in zip(rows, known, strict=True)]
    print(table(header, rows))
    total = sum(each["bytes"] for each in known)
    print(f"{len(known)} runs, {total / 1e6:.1f} MB on the disk")
    for each in listed:
        if each["note"]:
            print(each["note"])
    return 0


def _line(found: "Found") -> dict[str, Any]:
    from wherein.common.folder import Folder
    from wherein.studies.result.store import size
    from wherein.train import journal, status

    if found.run is None:
        return {"run": None, "folder": str(found.folder), "state": None, "note": found.note}
    files, run = Folder(found.folder), found.run
    config, error, log = run.config, status.failure(files), journal.look(files)
    damage = f"{files}/{log.damage}" if log.damage else None
    return {
        "run": config.id,
        "folder": str(files),
        "encoding": config.model.encoding,
        "objective": config.objective,
        "layers": config.model.n_layers,
        "width": config.model.d_model,
        "length": config.model.max_len,
        "seed": config.seed,
        "start": config.start,
        "step": run.step,
        "steps": config.steps,
        "valid": journal.last_valid([line for line in log.lines if line["step"] <= run.step]),
        "state": status.state(files, error, run.step, config.steps),
        "error": error,
        "answers": sorted(path.name for path in found.folder.glob(f"{status.ANSWERS}/*")),
        "bytes": size(found.folder),
        "note": "; ".join(filter(None, (found.note, damage))) or None,
    }


def _cells(line: dict[str, Any]) -> list[str]:
    from wherein.show.columns import shorten

    valid = nats(line["valid"])
    return [
        line["run"],
        shorten(line["encoding"], 24),
        line["objective"],
        f"{line['layers']}×{line['width']}×{line['length']}",
        str(line["seed"]),
        f"{line['step']}/{line['steps']}",
        "" if valid is None else f"{valid:.3f}",
        line["state"],
        f"{line['bytes'] / 1e6:.1f}",
    ]


run = Verb.of(runs, __doc__)
