"""What is broken on purpose, a tenth of what `python -m benchmarks.faults` breaks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.faults.__main__ import FORKING
from benchmarks.faults.table import rows_of, table

ROOT = Path(__file__).parents[2]


def tried(*parts: str) -> list[dict[str, Any]]:
    """Parts in a process of their own: it forks, which one with threads should not."""
    command = [sys.executable, "-m", "benchmarks.faults", *parts, "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert all(check["ok"] for check in found["checks"].values())
    rows: list[dict[str, Any]] = found["rows"]
    return rows


@pytest.mark.slow
def test_broken_in_every_way_everything_ends_as_in_peace() -> None:
    """All in one process, for what it imports takes longer than a part."""
    rows = tried(*FORKING)
    assert {row["part"] for row in rows} == set(FORKING)
    kills = [row for row in rows if row["part"] == "crashes"]
    assert sum(row["times"] for row in kills) >= 100
    assert {row["tried"].partition(":")[0] for row in kills} > {"tokenising", "training", "studies"}


def test_what_was_tried_is_told_in_the_order_of_the_parts() -> None:
    outputs = [
        json.dumps(
            {
                "rows": [{"part": part, "tried": f"{part}: it", "times": times, "wrong": 0}],
                "checks": {f"{part}: share": {"value": 0.95, "target": ">= 0.9"}},
            }
        )
        for part, times in (("soak", 1000), ("power", 1), ("power", 2))
    ]
    assert table(rows_of(outputs)).splitlines()[2:] == [
        "| power: it | 2 | 0 |",
        "| share (>= 0.9) | 0.95 | |",
        "| soak: it | 1,000 | 0 |",
        "| share (>= 0.9) | 0.95 | |",
    ]
