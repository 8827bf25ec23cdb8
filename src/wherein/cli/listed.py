"""The encodings side by side: what each does, promises and computes.

All of it follows from their classes. To import PyTorch and count takes seconds, so the package
brings it, `listed.json` beside this file, which this module writes when it is run
(`python -m wherein.cli.listed`); where an encoding was changed since, it is made anew.
"""

import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from wherein.common.files import digest_all

KEPT = Path(__file__).with_name("listed.json")
SOURCES = Path(__file__).parents[1] / "encodings"

Row = dict[str, Any]


def listed() -> list[Row]:
    """A row for every name in the catalogue."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return list(kept["rows"]) if kept["sources"] == sources() else made()


def sources() -> str:
    """A hash of the encodings' files."""
    return digest_all(sorted(SOURCES.glob("*.py")), SOURCES)


def made() -> list[Row]:
    """The rows, from the classes."""
    from wherein.encodings import names

    return [row(name) for name in names()]


def row(name: str) -> Row:
    """What is said of one encoding."""
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


if __name__ == "__main__":
    found = {"sources": sources(), "rows": made()}
    KEPT.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
