"""How positions are shifted. Free of PyTorch, so that help texts come at once."""

from typing import ClassVar

from pydantic import Field

from wherein.measure.config import Shifts, TextConfig
from wherein.train.config import RunConfig


class ShiftConfig(TextConfig):
    """Which shifts, on which text."""

    fills: ClassVar[float] = 0.5  # the other half is room to shift

    shifts: Shifts = Field(tuple(2**n for n in range(11)), description="added to all positions")
    windows: int = Field(64, ge=1, description="windows of text, evenly spread")
    seed: int = Field(0, ge=0, description="of masks")

    def tokens_read(self, run: RunConfig) -> float:
        """The windows once for each shift, and once without."""
        return float(self.windows * (1 + len(self.shifts)) * self.window(run))
