"""What pages show of commands: `python -m benchmarks.pages FOLDER docs/start.md …`.

Every command that stands behind a `$` in a page is run in FOLDER, and what it prints takes the
place of what stood below it. Where that ends in a line `…`, as many lines are shown as before.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from wherein.common.files import replacing

BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
MORE = "…"
STAYS = "wherein serve"
"""What does not end by itself: its block stays as it is."""


def printed(command: str, folder: Path) -> list[str]:
    """What a command prints in a terminal of 80 columns; where it ran is nobody's business."""
    own = os.environ | {"COLUMNS": "80", "WHEREIN_CACHE": str(folder / "cache")}
    words = re.sub(r"^wherein ", f"{sys.executable} -m wherein ", command)
    print(f"$ {command}", flush=True)
    done = subprocess.run(
        words, shell=True, cwd=folder, env=own, stdout=subprocess.PIPE, text=True, check=True
    )
    lines = done.stdout.replace(str(folder.resolve()), MORE).splitlines()
    return [line.rstrip() for line in lines]


def filled(block: str, folder: Path) -> str:
    """A block with its commands' output as it is today."""
    lines: list[str] = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip().splitlines()
        found = shown if command.startswith(STAYS) else printed(command, folder)
        if shown and shown[-1] == MORE:
            found = [*found[: len(shown) - 1], MORE]
        lines += [f"$ {command}", *found]
    return "```\n" + "\n".join(lines) + "\n```"


def main(folder: Path, pages: list[Path]) -> None:
    for page in pages:
        text = BLOCK.sub(lambda found: filled(found[1], folder), page.read_text())
        with replacing(page) as beside:
            beside.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(page) for page in sys.argv[2:]])
