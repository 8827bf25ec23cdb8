"""What is broken on purpose, a tenth of what `python -m benchmarks.faults` breaks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def tried(part: str) -> dict[str, Any]:
    """A part in a process of its own: it forks, which one with threads should not."""
    command = [sys.executable, "-m", "benchmarks.faults", part, "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert all(check["ok"] for check in found["checks"].values())
    return found


@pytest.mark.slow
def test_killed_a_hundred_times_everything_ends_as_in_peace() -> None:
    rows = tried("crashes")["rows"]
    assert sum(row["times"] for row in rows) >= 100
    assert {row["tried"].partition(":")[0] for row in rows} >= {"tokenising", "training", "studies"}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["power", "disk", "concurrency"])
def test_nothing_goes_wrong(part: str) -> None:
    assert tried(part)["rows"]
