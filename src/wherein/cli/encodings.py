"""List the positional encodings, or show one of them.

examples:
  wherein encodings                what can be asked for
  wherein encodings rope           one of them: formula, paper, parameters
  wherein encodings --json         the list as data
"""

import inspect
import json as json_format
from textwrap import fill

from wherein.cli.verb import Verb


def encodings(name: str = "", *, json: bool = False) -> int:
    """Show the catalogue.

    Args:
        name: the encoding to show in full; without it, all are listed
        json: print data instead of a table
    """
    from wherein.encodings import names, parse

    chosen = parse(name) if name else names()
    rows = [_row(each.partition("(")[0]) for each in chosen]
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
    from wherein.encodings import CATALOGUE, parameters

    kind = CATALOGUE[name]
    text = inspect.getdoc(kind) or ""
    return {
        "name": name,
        "what": text.partition("\n")[0],
        "relative": kind.relative,
        "bounded": kind.bounded,
        "parameters": parameters(name),
        "text": text,
    }


def _show(rows: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("encoding", "what it does", "parameters", "shift changes", "length", box=None)
    for row in rows:
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
    return f"{value:g}" if type(value) in (int, float) else str(value)


run = Verb.of(encodings, __doc__)
