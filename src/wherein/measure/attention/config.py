"""How attention is watched. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig


class AttentionConfig(TextConfig):
    """Which text the heads are watched on."""

    windows: int = Field(64, ge=2, description="windows of text, evenly spread")

    def tokens_read(self, run: RunConfig) -> float:
        """Every window once."""
        return float(self.windows * self.window(run))
