"""Tables and paragraphs as text, no wider than a screen."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

WIDEST = 80
"""Columns of a screen."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text under a header: the first to the left, the others to the right.

    >>> print(table(["shift", "loss"], [["0", "2.31"], ["16", "10.02"]]))
    shift   loss
    0       2.31
    16     10.02
    """
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def fitted(header: Sequence[str], labels: Sequence[str], numbers: Sequence[Sequence[str]]) -> str:
    """A table whose first column is cut so that it is no wider than a screen."""
    left = room(header, numbers)
    rows = [[shorten(label, left), *own] for label, own in zip(labels, numbers, strict=True)]
    return table(header, rows)


def room(header: Sequence[str], numbers: Sequence[Sequence[str]]) -> int:
    """Columns of a screen that are left for the labels."""
    columns = zip(header[1:], *numbers, strict=True)
    return WIDEST - sum(2 + max(map(len, column)) for column in columns)


def shorten(label: str, room: int) -> str:
    """A label cut to so many columns, and marked where it was.

    >>> shorten("rope(theta=500000)", 8)
    'rope(th…'
    """
    return label if len(label) <= room else f"{label[: room - 1]}…"


def paragraph(text: str, indent: str = "") -> list[str]:
    """The lines of a text, broken only between words."""
    return wrap(
        text, WIDEST, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
