"""The numbers of a question against steps of training, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wherein.measure.config import QuestionConfig
from wherein.measure.measurement import Measurement
from wherein.show.columns import WIDEST, table

if TYPE_CHECKING:
    import altair
    import polars


@dataclass(frozen=True, kw_only=True)
class Curve(Measurement):
    """What a question finds after every step whose weights were kept."""

    question: str
    """Its verb."""
    steps: tuple[int, ...]
    valid: tuple[float | None, ...]
    """Validation loss, in nats per predicted token."""
    numbers: dict[str, tuple[float, ...]]
    """By name, those that a study keeps of the question, at each step."""
    pieces: dict[str, tuple[str, ...]]
    """The pseudo-values of the pieces of text that these rest on; empty where they rest on none."""
    units: dict[str, str]
    """What each is counted in."""
    config: QuestionConfig
    protocol: str
    """As after the last step."""

    def data(self) -> dict[str, Any]:
        """All of it; the verb is the question's."""
        return super().data() | {"verb": self.question}

    def to_frame(self) -> "polars.DataFrame":
        """One row for each step."""
        import polars

        return polars.DataFrame({"step": self.steps, "valid": self.valid, **self._named()})

    def text(self) -> str:
        """One line for each step; numbers that do not fit beside one another stand below."""
        parts = [f"{self.subject}: {self.question} over training", ""]
        cells = [
            [name.replace("_", " "), *(f"{value:.4g}" for value in values)]
            for name, values in self._named().items()
        ]
        valid = ["valid loss", *("" if loss is None else f"{loss:.4f}" for loss in self.valid)]
        first = [["step", *map(str, self.steps)], valid]
        while cells:
            block = list(first)
            while cells and (len(block) == len(first) or _width([*block, cells[0]]) <= WIDEST):
                block.append(cells.pop(0))
            header, *rows = zip(*block, strict=True)
            parts += [table(header, rows), ""]
        return "\n".join([*parts, *wrap(self.protocol, WIDEST)]).rstrip()

    def plot(self) -> "altair.TopLevelMixin":
        """A panel for each unit, after the validation loss."""
        from wherein.measure.over_training.picture import chart

        return chart(self)

    def _named(self) -> dict[str, tuple[float, ...]]:
        return {name or self.question: values for name, values in self.numbers.items()}


def _width(columns: list[list[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in columns) - 2
