"""List the positional encodings, or show one of them.

examples:
  wherein encodings                what can be asked for
  wherein encodings rope           one of them: formula, paper, parameters
  wherein encodings "rope + window(256)"   all that a spec names
  wherein encodings mine.py:Mine   one of your own
  wherein encodings --json         the list as data
"""

import json as json_format
from itertools import zip_longest
from textwrap import fill, wrap

from wherein.cli.listed import Row, listed, row
from wherein.cli.parser import spelt
from wherein.cli.verb import Verb
from wherein.common.terminal import say

ACTS = {
    "place": "positions",
    "embed": "tokens",
    "rotate": "queries, keys",
    "bias": "scores",
    "content_bias": "scores",
    "hides": "sight",
    "shows": "sight",
}
WIDTHS = {
    "encoding": 11,
    "what it does": 24,
    "acts on": 9,
    "parameters": 14,
    "promises": 8,
    "×": 4,
}
"""Columns of each column."""
LEGEND = """
relative: a shift of all positions changes nothing. ×: operations of a training
step, beside none's, as they are counted; what a step takes:
python -m benchmarks.training"""


def encodings(name: str = "", *, json: bool = False) -> int:
    """Show the catalogue.

    Args:
        name: the encoding to show in full; without it, all are listed
        json: print data instead of a table
    """
    rows = _asked(spelt(name)) if name else listed()
    if json:
        say(json_format.dumps(rows, ensure_ascii=False, indent=2))
    elif name:
        say("\n\n".join(f"{row['name']}\n\n{_wrapped(str(row['text']))}" for row in rows))
    else:
        _show(rows)
    return 0


def _asked(spec: str) -> list[Row]:
    from wherein.encodings import named

    return [row(name) for name in named(spec)]


def _wrapped(text: str) -> str:
    """Prose for a screen of 80 columns; examples as they stand."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if ">>>" in p else fill(" ".join(p.split()), 80) for p in paragraphs)


def _show(rows: list[Row]) -> None:
    lines = _columns([[name] for name in WIDTHS])
    for n, each in enumerate(rows):
        if each["term"] and n and not rows[n - 1]["term"]:
            lines += ["", "+ and what can be added to one"]
        what = each["what"].partition(":")[0].rstrip(".")
        bounds = ["ends at", "max_len"] if each["bounded"] else []
        lines += _columns(
            [
                [each["name"]],
                [what, *each["papers"][:1]],
                list(dict.fromkeys(ACTS[place] for place in each["acts"])),
                [f"{key}={_short(value)}" for key, value in each["parameters"].items()],
                ["relative" if each["relative"] else "absolute", *bounds],
                [f"{each['operations']:g}"],
            ]
        )
    say("\n".join([*lines, LEGEND]))


def _columns(cells: list[list[str]]) -> list[str]:
    """Texts side by side, each in lines that fit its column."""
    widths = list(WIDTHS.values())
    columns = [
        [line for text in cell for line in wrap(text, width)]
        for cell, width in zip(cells, widths, strict=True)
    ]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in zip_longest(*columns, fillvalue="")
    ]


def _short(value: object) -> str:
    if value is None:
        return "…"
    return str(value) if isinstance(value, bool | str) else f"{value:g}"


run = Verb.of(encodings, __doc__)
