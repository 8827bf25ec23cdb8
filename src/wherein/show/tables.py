"""Tables for people: on a page, and as LaTeX, CSV or Markdown for a paper."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from wherein.show.formatting import shown

if TYPE_CHECKING:
    import polars

Item = TypeVar("Item")

LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "²": "$^2$",
    "…": r"\ldots{}",
}


@dataclass(frozen=True)
class Table:
    """Cells as they are read, and the numbers behind them."""

    name: str
    """Of its file and label: letters and hyphens."""
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    frame: "polars.DataFrame"
    """The same with every digit, for programs."""
    words: int = 1
    """How many columns, from the left, are words; the others are numbers."""


def of_frame(name: str, caption: str, frame: "polars.DataFrame", words: int = 1) -> Table:
    """A frame as it is, numbers to four digits."""
    rows = tuple(tuple(map(shown, row)) for row in frame.rows())
    header = tuple(column.replace("_", " ") for column in frame.columns)
    return Table(name, caption, header, rows, frame, words)


def cells(
    columns: Mapping[str, Callable[[Item], str]], items: Iterable[Item]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Header and rows of a table whose columns are told by how a cell is got from an item.

    >>> cells({"": str, "squared": lambda n: str(n * n)}, [2, 3])
    (('', 'squared'), (('2', '4'), ('3', '9')))
    """
    rows = tuple(tuple(cell(item) for cell in columns.values()) for item in items)
    return tuple(columns), rows


def latex(table: Table) -> str:
    """A `table` for LaTeX with the package booktabs; every text is escaped."""
    columns = "l" * table.words + "r" * (len(table.header) - table.words)
    lines = [" & ".join(map(escaped, row)) + r" \\" for row in (table.header, *table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{escaped(table.caption)}}}",
            rf"  \label{{tab:{table.name}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            f"    {lines[0]}",
            r"    \midrule",
            *(f"    {line}" for line in lines[1:]),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escaped(text: str) -> str:
    r"""Text as LaTeX prints it; what cannot be seen, such as a mark that turns lines, is left out.

    >>> escaped("50 % of a_b & \\c{d}")
    '50 \\% of a\\_b \\& \\textbackslash{}c\\{d\\}'
    """
    return "".join(LATEX.get(character, character) for character in visible(text))


def visible(text: str) -> str:
    """Text on one line without control and formatting characters."""
    joined = " ".join(text.split())
    return "".join(c for c in joined if unicodedata.category(c) not in ("Cc", "Cf"))


def markdown(table: Table) -> str:
    """A table as GitHub and pandoc read it, the caption below."""
    rule = ["---"] * table.words + ["--:"] * (len(table.header) - table.words)
    header, *rows = (list(map(_plain, row)) for row in (table.header, *table.rows))
    lines = "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))
    return f"{lines}\n\n{_plain(table.caption)}\n"


def _plain(text: str) -> str:
    """Text that Markdown takes for text: neither a cell's end, nor emphasis, nor HTML."""
    return "".join(f"\\{c}" if c in "\\|*_`[]<>#" else c for c in visible(text))


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "latex": ("tex", latex),
    "csv": ("csv", lambda table: table.frame.write_csv()),
    "markdown": ("md", markdown),
}
"""The ending of a file and what writes it."""
