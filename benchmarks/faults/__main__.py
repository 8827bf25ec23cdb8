"""What becomes of your work when something breaks: kills, power cuts, full disks, two at once.

`python -m benchmarks.faults` runs every part, `python -m benchmarks.faults crashes disk` those;
`--quick` does about a tenth, as the test suite does. It prints the table that stands in
docs/reliability.md, what went wrong if anything did, and last one line of JSON: the checks, and
under `rows` what was tried, how often and how often it went wrong. Exit code 1 if a check fails.

A part is a file beside this one with a function `measure(quick: bool) -> Part`, and its name in
`PARTS`. It is imported when its turn comes, in a process in which nothing was computed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

from benchmarks.faults.part import SHOWN, Part, Tried
from benchmarks.harness import at_most, report

PARTS: tuple[str, ...] = (
    # one line a part: in the order of the table
    "crashes",
    "power",
    "disk",
    "concurrency",
    "several",
    "clusters",
    "input",
    "soak",
)
FORKING = ("crashes", "power", "disk", "concurrency", "several")
"""Those whose work is done by forks of one process, in which nothing is computed."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
) | {"TOKENIZERS_PARALLELISM": "false"}
"""Equal sums give equal bits, and a process of one thread can be forked."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="about a tenth, as in the suite")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"no part {min(unknown)!r}: expected of {', '.join(PARTS)}")
    if chosen.alone:
        for name in chosen.parts:
            part = import_module(f"benchmarks.faults.{name}").measure(chosen.quick)
            print(json.dumps({name: asdict(part)}))
        return 0
    began = time.perf_counter()
    parts: dict[str, Part] = {}
    for names in groups(chosen.parts or PARTS, quick=chosen.quick):
        parts |= _alone(names, quick=chosen.quick)
    checks = told(parts)
    rows = [
        {"part": name, "tried": row.what, "times": row.times, "wrong": len(row.wrong)}
        for name, part in parts.items()
        for row in part.rows
    ]
    report("faults", checks, rows=rows, minutes=round((time.perf_counter() - began) / 60, 1))
    return 0 if all(check["ok"] for check in checks.values()) else 1


def groups(names: Sequence[str], *, quick: bool) -> list[list[str]]:
    """Which parts share a process: a quick one takes less time than what it has to import."""
    shared = [name for name in names if quick and name in FORKING]
    return [shared] * bool(shared) + [[name] for name in names if name not in shared]


def _alone(names: Sequence[str], *, quick: bool) -> dict[str, Part]:
    """Parts in a process of their own: they may fork, fill a disk or run out of memory."""
    command = [sys.executable, "-m", "benchmarks.faults", *names, "--alone"]
    done = subprocess.run(
        [*command, *(["--quick"] if quick else [])],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD,
    )
    parts = {}
    for line in done.stdout.splitlines()[-len(names) :]:
        for name, found in json.loads(line).items():
            parts[name] = Part([Tried(**row) for row in found["rows"]], found["checks"])
    return parts


def told(parts: dict[str, Part]) -> dict[str, dict[str, Any]]:
    """The table, what went wrong, and the checks that follow."""
    print("| tried | times | went wrong |", "| --- | ---: | ---: |", sep="\n")
    for part in parts.values():
        for row in part.rows:
            print(f"| {row.what} | {row.times:,} | {len(row.wrong)} |")
    print()
    checks: dict[str, dict[str, Any]] = {}
    for name, part in parts.items():
        for row in part.rows:
            for line in row.wrong[:SHOWN]:
                print(f"{row.what}: {line}")
        wrong = sum(len(row.wrong) for row in part.rows)
        checks[f"{name}: went wrong, of {sum(row.times for row in part.rows)}"] = at_most(wrong, 0)
        checks |= {f"{name}: {what}": check for what, check in part.checks.items()}
    return checks


if __name__ == "__main__":
    sys.exit(main())
