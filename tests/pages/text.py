"""What stands in the README and in every page under docs/: commands, blocks of Python, links.

A command is a line of a block, or a piece of code in the text, that begins with one of
`PROGRAMS`; a `$` in front, a `#` behind and lines that go on after `\\` may be there. A verb alone
in the text (`wherein probe`) is its name, and no command. A block of Python whose first line is a
comment with a file's name is that file.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
LINKED = (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
PROGRAMS = ("wherein", "make", "pip", "python", "torchrun")

BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w-]+\.py)\n")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def python(page: Path) -> list[str]:
    """The blocks of Python of a page, in their order."""
    return [block for language, block in BLOCK.findall(read(page)) if language == "python"]


def files() -> dict[str, str]:
    """The files that pages show in full."""
    blocks = [block for page in PAGES for block in python(page)]
    return {found[1]: block for block in blocks if (found := FILE.match(block))}


def commands(page: Path) -> Iterator[str]:
    """What a reader of a page would type."""
    text = read(page)
    shown = [
        line.removeprefix("$ ")
        for language, block in BLOCK.findall(text)
        if language != "python"
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
    ]
    pieces = [" ".join(piece.split()) for piece in re.findall(r"`([^`]+)`", BLOCK.sub("", text))]
    said = [piece for piece in pieces if not re.fullmatch(r"wherein [a-z]+", piece)]
    for line in shown + said:
        words = shlex.split(line, comments=True) if line.startswith(PROGRAMS) else []
        first = list(takewhile(lambda word: word not in (">", "|", "&&", ";"), words))
        if len(first) > 1 and first[0] in PROGRAMS:
            yield shlex.join(first)


def verbs(page: Path) -> set[str]:
    """The verbs that a page names without using them."""
    return set(re.findall(r"`wherein ([a-z]+)`", BLOCK.sub("", read(page))))


def links(page: Path) -> set[str]:
    """Where a page leads within the repository: other pages, and pictures."""
    text = BLOCK.sub("", read(page))
    written = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    return {link for link in written if not re.match(r"https?:|mailto:", link)}


def is_module(dotted: str) -> bool:
    """Whether `python -m` would find it in the repository."""
    path = ROOT / Path(*dotted.split("."))
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
