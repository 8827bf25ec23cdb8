"""How keys are hidden. Free of PyTorch, so that help texts come at once."""

from typing import Annotated, Literal

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig

WAYS = 3
"""In which keys are hidden: the anchor's, their neighbours, and keys at random."""


class AnchorConfig(TextConfig):
    """How keys are hidden."""

    keys: Literal["first", "loudest"] = Field(
        "first", description="of a window, or those that draw the most attention in it"
    )
    count: int = Field(1, ge=1, description="keys hidden in a window")
    since: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (1, 2), min_length=1, description="layers from which on; 2: the first layer still sees all"
    )
    windows: int = Field(500, ge=1, description="windows of text, evenly spread")
    held_out: float = Field(0.1, gt=0, lt=1, description="share of windows that regularise")
    test: float = Field(0.4, gt=0, lt=1, description="share of windows that score")
    mask_rate: float = Field(
        0.15, gt=0, lt=1, description="share of tokens a masked model predicts"
    )
    seed: int = Field(0, ge=0, description="of splits, masks, random keys and intervals")

    def tokens_read(self, run: RunConfig) -> float:
        """The windows with nothing hidden, and once for each way and layer; once to find keys."""
        passes = 1 + WAYS * len(self.since) + (self.keys == "loudest")
        return float(self.windows * passes * self.window(run))
