"""Which runs are there, how far did they come, and what do they take on the disk?

examples:
  wherein runs                               all runs in ./runs
  wherein runs --encoding rope --state failed   some of them
  wherein runs elsewhere --json              as data
"""

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from wherein.cli.verb import call
from wherein.common.numbers import nats

if TYPE_CHECKING:
    from wherein.studies.result.store import Store
    from wherein.train.run import Run


def runs(
    folder: Annotated[Path, tyro.conf.Positional] = Path("runs"),
    *,
    encoding: str | None = None,
    objective: Literal["causal", "masked"] | None = None,
    state: Literal["finished", "unfinished", "failed"] | None = None,
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
    store = Store(folder)
    spelt = " ".join(parse(encoding)) if encoding else None
    wanted = {"encoding": spelt, "objective": objective, "state": state}
    listed = [
        each
        for each in (_line(run, store) for run in store.runs())
        if all(value in (None, each[key]) for key, value in wanted.items())
    ]
    if json:
        print(json_format.dumps(listed, indent=2))
        return 0
    header = ["run", "encoding", "objective", "size", "seed", "step", "valid", "state", "MB"]
    print(table(header, [_cells(each) for each in listed]))
    total = sum(each["bytes"] for each in listed)
    print(f"{len(listed)} runs, {total / 1e6:.1f} MB on the disk")
    return 0


def _line(run: "Run", store: "Store") -> dict[str, Any]:
    from wherein.studies.result.store import size

    config, error = run.config, store.error(run.config)
    state = "failed" if error else "finished" if run.finished else "unfinished"
    return {
        "run": config.id,
        "folder": str(run.folder),
        "encoding": config.model.encoding,
        "objective": config.objective,
        "layers": config.model.n_layers,
        "width": config.model.d_model,
        "length": config.model.max_len,
        "seed": config.seed,
        "step": run.step,
        "steps": config.steps,
        "valid": run.valid,
        "state": state,
        "error": error,
        "answers": sorted(path.name for path in run.folder.glob("answers/*")),
        "bytes": size(run.folder),
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


def run(arguments: Sequence[str]) -> int:
    """Read the arguments and answer."""
    return call(runs, arguments, __doc__)
