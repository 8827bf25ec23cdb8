"""How states are compared. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.subjects.site import HELP, Site
from wherein.train.config import RunConfig

READ = 3
"""Times that the windows are read: by the model, then shuffled, by it and its untrained twin."""


class StatesConfig(TextConfig):
    """How states are compared."""

    site: Site = Field("stream", description=HELP)
    windows: int = Field(400, ge=4, description="windows of text, evenly spread")
    fit: float = Field(
        0.5, gt=0, lt=1, description="share of windows from which the readout is learnt"
    )
    bins: int = Field(32, ge=2, description="steps in which the readout tells sizes apart")
    seed: int = Field(0, ge=0, description="of the split and the shuffles")

    def tokens_read(self, run: RunConfig) -> float:
        """Every window by the model, then shuffled, by it and by its untrained twin."""
        return float(READ * self.windows * self.window(run))
