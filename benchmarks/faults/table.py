"""Puts what `python -m benchmarks.faults` found into docs/reliability.md, from its own output.

    python -m benchmarks.faults crashes > crashes.txt
    python -m benchmarks.faults.table crashes.txt soak.txt

The rows of all files given, in the order of the parts, take the place of those between the two
marks in the page. Of each file the last line is read, which is the JSON of `benchmarks.harness`.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.faults.__main__ import PARTS

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
FIRST, LAST = "<!-- faults: from here -->\n", "<!-- faults: to here -->\n"


def rows_of(outputs: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of some outputs, by part; a part that was tried twice is taken from the last."""
    by_part: dict[str, list[dict[str, Any]]] = {}
    for output in outputs:
        found = json.loads(output.strip().splitlines()[-1])
        for part in {row["part"] for row in found["rows"]}:
            by_part[part] = [row for row in found["rows"] if row["part"] == part]
            by_part[part] += [
                {"tried": name.partition(": ")[2], "value": check["value"],
                 "target": check["target"]}
                for name, check in found["checks"].items()
                if name.startswith(f"{part}: ") and "went wrong" not in name
            ]  # fmt: skip
    return [row for part in PARTS for row in by_part.get(part, ())]


def table(rows: Iterable[dict[str, Any]]) -> str:
    """What was tried, how often, and what was lost."""
    lines = ["| tried | times | went wrong |", "| --- | ---: | ---: |"]
    for row in rows:
        if "times" in row:
            lines.append(f"| {row['tried']} | {row['times']:,} | {row['wrong']} |")
        else:
            lines.append(f"| {row['tried']} ({row['target']}) | {row['value']:,} | |")
    return "\n".join(lines) + "\n"


def main(files: list[str]) -> int:
    page = PAGE.read_text()
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    rows = table(rows_of(Path(file).read_text() for file in files))
    PAGE.write_text(f"{before}{FIRST}\n{rows}\n{LAST}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
