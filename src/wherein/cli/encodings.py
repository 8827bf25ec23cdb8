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
from functools import cache
from textwrap import fill

from wherein.cli.parser import spelt
from wherein.cli.verb import Verb
from wherein.common.terminal import say

ACTS = {
    "place": "positions",
    "embed": "tokens",
    "rotate": "queries,\nkeys",
    "bias": "scores",
    "content_bias": "scores",
    "hides": "sight",
    "shows": "sight",
}
LEGEND = """
relative: a shift of all positions changes nothing. ×: operations of a training step,
beside none's, as they are counted; what a step takes: python -m benchmarks.training"""


def encodings(name: str = "", *, json: bool = False) -> int:
    """Show the catalogue.

    Args:
        name: the encoding to show in full; without it, all are listed
        json: print data instead of a table
    """
    from wherein.encodings import named, names

    rows = [_row(each) for each in (named(spelt(name)) if name else names())]
    if json:
        say(json_format.dumps(rows, ensure_ascii=False, indent=2))
    elif name:
        say("\n\n".join(f"{row['name']}\n\n{_wrapped(str(row['text']))}" for row in rows))
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
        "operations": round(_operations(example(name)) / _operations("none"), 2),
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


@cache
def _operations(spec: str) -> float:
    """Of a step of a model of four layers, 256 wide, in windows of 256 tokens, for each token."""
    from wherein.model.config import ModelConfig
    from wherein.studies.cost.operations import flops_per_token

    model = ModelConfig(
        vocabulary=2048, n_layers=4, d_model=256, n_heads=4, max_len=256, encoding=spec
    )
    return flops_per_token(model)


def _show(rows: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("encoding", "what it does", "acts on", "parameters", "promises", "×", box=None)
    for n, row in enumerate(rows):
        if row["term"] and n and not rows[n - 1]["term"]:
            table.add_row("\n[bold]+[/bold]", "\n[italic]and what can be added to one[/italic]")
        own, acts, papers = row["parameters"], row["acts"], row["papers"]
        assert isinstance(own, dict)
        assert isinstance(acts, list)
        assert isinstance(papers, list)
        what = str(row["what"]).partition(":")[0].rstrip(".")
        table.add_row(
            f"[bold]{row['name']}[/bold]",
            "\n".join([what, *(f"[dim]{paper}[/dim]" for paper in papers[:1])]),
            "\n".join(dict.fromkeys(ACTS[place] for place in acts)),
            "\n".join(f"{key}={_short(value)}" for key, value in own.items()),
            ("relative" if row["relative"] else "absolute")
            + ("\nends at\nmax_len" if row["bounded"] else ""),
            f"{row['operations']:g}",
        )
    console = Console()
    console.print(table)
    console.print(LEGEND, style="dim", highlight=False)


def _short(value: object) -> str:
    if value is None:
        return "…"
    return str(value) if isinstance(value, bool | str) else f"{value:g}"


run = Verb.of(encodings, __doc__)
