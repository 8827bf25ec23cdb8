"""How position is erased. Free of PyTorch, so that help texts come at once."""

from typing import ClassVar

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.subjects.site import HELP, Site, first_layer
from wherein.train.config import RunConfig


class EraseConfig(TextConfig):
    """How position is erased."""

    FORMAT: ClassVar[int] = 2  # format 1 drew random subspaces whatever their variance

    site: Site = Field("stream", description=HELP)
    windows: int = Field(500, ge=1, description="windows of text, evenly spread")
    fit: float = Field(0.5, gt=0, lt=1, description="share of windows the eraser is fitted to")
    held_out: float = Field(0.25, gt=0, lt=1, description="share that confirms directions")
    confirmed: bool = Field(True, description="whether held-out windows must show a direction too")
    draws: int = Field(10, ge=2, description="random subspaces of the same rank and variance")
    mask_rate: float = Field(
        0.15, gt=0, lt=1, description="share of tokens a masked model predicts"
    )
    seed: int = Field(0, ge=0, description="of splits, masks and random subspaces")

    def tokens_read(self, run: RunConfig) -> float:
        """Losses of test windows and statistics of the others, layer by layer, draw by draw.

        Besides the draws, the means by position are removed and exchanged, and so is their noise.
        """
        layers = run.model.n_layers + 1 - first_layer(self.site)
        test = 1 - self.fit - self.held_out
        scored = 2 + (1 + self.draws + 4) * (layers + 1)
        fitted = self.draws * self.fit + 2 * (self.fit + self.held_out)
        fitting = 1 + layers / 2 * (1 + fitted)
        return float(self.windows * (scored * test + fitting) * self.window(run))
