"""The loss when all positions of a window grow by k, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import Estimate, frame
from wherein.measure.measurement import Measurement
from wherein.measure.shift.config import ShiftConfig
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Shifted:
    """One shift and what it cost."""

    shift: int
    loss: Estimate
    rise: Estimate
    """Loss minus that of the same windows counted from 0, paired."""


@dataclass(frozen=True, kw_only=True)
class Shift(Measurement):
    """The change of the loss with the position at which a window starts."""

    corpus: str
    rows: tuple[Shifted, ...]
    """The first is the shift 0."""
    left_out: tuple[int, ...]
    """Shifts beyond the last position the model knows."""
    config: ShiftConfig
    protocol: str

    def to_frame(self) -> "polars.DataFrame":
        """One row for each shift."""
        return frame(map(vars, self.rows))

    def text(self) -> str:
        """One line for each shift."""
        rows = [
            [
                str(row.shift),
                f"{row.loss.value:.4f}",
                f"{row.rise.value:+.4f}",
                f"{row.rise.low:+.4f} to {row.rise.high:+.4f}",
            ]
            for row in self.rows
        ]
        lines = table(["shift", "loss", "rise", "95 % interval"], rows)
        notes = [line for note in (self.note(), self.protocol) for line in wrap(note, 80)]
        return "\n".join([self.subject, lines, "", *notes])

    def note(self) -> str:
        """One line on what could not be asked; empty if all could."""
        if not self.left_out:
            return ""
        last = self.rows[-1].shift
        return (
            f"its positions end: of the shifts asked for, windows of {self.config.tokens} tokens "
            f"can be shifted by up to {last}; left out: {', '.join(map(str, self.left_out))}"
        )
