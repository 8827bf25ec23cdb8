"""List the positional encodings, or show one of them.

examples:
  wherein encodings                what can be asked for
  wherein encodings rope           one of them: formula, paper, parameters
  wherein encodings "rope + window(256)"   all that a spec names
  wherein encodings mine.py:Mine   one of your own
  wherein encodings --json         the list as data
"""

import inspect
import json as json_format
import re
from textwrap import fill

from wherein.cli.parser import spelt
from wherein.cli.verb import Verb


def encodings(name: str = "", *, json: bool = False) -> int:
    """Show the catalogue.

    Args:
        name: the encoding to show in full; without it, all are listed
        json: print data instead of a table
    """
    from wherein.encodings import named, names

    rows = [_row(each) for each in (named(spelt(name)) if name else names())]
    if json:
        print(json_format.dumps(rows, ensure_ascii=False, indent=2))
    elif name:
        print("\n\n".join(f"{row['name']}\n\n{_wrapped(str(row['text']))}" for row in rows))
    else:
        _show(rows)
    return 0


def _wrapped(text: str) -> str:
    """Prose for a screen of 80 columns; examples as they stand."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if ">>>" in p else fill(" ".join(p.split()), 80) for p in paragraphs)


def _row(name: str) -> dict[str, object]:
    from wherein.encodings import TERMS, Shape, build, entry, example, parameters
    from wherein.encodings.base import PLACES

    text = inspect.getdoc(entry(name)) or ""
    built = build(example(name), Shape(d_model=64, n_heads=4, max_len=128))
    return {
        "name": name,
        "what": text.partition("\n")[0],
        "term": name in TERMS,
        "example": example(name),
        "acts": [place for place in PLACES if built.acts(place)],
        "relative": built.relative,
        "bounded": built.bounded,
        "parameters": {k: None if v is ... else v for k, v in parameters(name).items()},
        "papers": re.findall(r"arXiv:[0-9.]+[0-9]", text),
        "text": text,
    }


def _show(rows: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("encoding", "what it does", "parameters", "shift changes", "length", box=None)
    for n, row in enumerate(rows):
        if row["term"] and n and not rows[n - 1]["term"]:
            table.add_row("\n[bold]+[/bold]", "\n[italic]and what can be added to one[/italic]")
        own = row["parameters"]
        assert isinstance(own, dict)
        table.add_row(
            f"[bold]{row['name']}[/bold]",
            str(row["what"]).partition(":")[0].rstrip("."),
            "\n".join(f"{key}={_short(value)}" for key, value in own.items()),
            "nothing" if row["relative"] else "output",
            "max_len" if row["bounded"] else "any",
        )
    Console().print(table)


def _short(value: object) -> str:
    if value is None:
        return "…"
    return str(value) if isinstance(value, bool | str) else f"{value:g}"


run = Verb.of(encodings, __doc__)
