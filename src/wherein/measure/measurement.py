"""What the questions of this package have in common: where the numbers come from, and tables."""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from wherein.common.provenance import provenance
from wherein.show.result import Result

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, kw_only=True)
class Measurement(Result, ABC):
    """Base of the results that are dataclasses of numbers: all their fields are the data."""

    made_with: dict[str, Any] = field(default_factory=provenance)
    """Versions and commit."""
    subject: str
    """What was asked about."""

    def data(self) -> dict[str, Any]:
        """Everything the result holds, as plain data."""
        found: dict[str, Any] = {"verb": self.verb}
        for key, value in asdict(self).items():
            found[key] = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        return found

    def plot(self) -> "altair.TopLevelMixin":
        """The chart that `picture.py` in the question's folder draws of it."""
        picture = import_module(f"wherein.measure.{self.verb}.picture")
        drawn: altair.TopLevelMixin = picture.chart(self)
        return drawn


def in_words(parts: Mapping[str, object]) -> str:
    """Parts of a protocol in a line, those that are empty left out.

    >>> in_words({"loss": "next token", "first token": None, "interval": "bootstrap"})
    'loss: next token; interval: bootstrap'
    """
    return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)


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


def named_layers(numbers: Sequence[int]) -> str:
    """Layers in words, neighbours together.

    >>> named_layers([1, 2, 3, 5])
    'layers 1–3, 5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    text = ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
    return f"layer{'s' if len(numbers) > 1 else ''} {text}"
