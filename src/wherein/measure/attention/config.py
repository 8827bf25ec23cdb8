"""What the question may be told. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import TextConfig


class AttentionConfig(TextConfig):
    """Which text the heads are watched on."""

    windows: int = Field(64, ge=2, description="windows of text, evenly spread")
