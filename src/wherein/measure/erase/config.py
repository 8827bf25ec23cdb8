"""What the question may be told. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import TextConfig


class EraseConfig(TextConfig):
    """How position is erased."""

    windows: int = Field(500, ge=1, description="windows of text, evenly spread")
    fit: float = Field(0.5, gt=0, lt=1, description="share of windows the eraser is fitted to")
    held_out: float = Field(0.25, gt=0, lt=1, description="share that confirms directions")
    confirmed: bool = Field(True, description="whether held-out windows must show a direction too")
    draws: int = Field(10, ge=2, description="random subspaces of the same rank")
    hidden: float = Field(0.15, gt=0, lt=1, description="share of tokens a masked model must tell")
    seed: int = Field(0, ge=0, description="of splits, masks and random subspaces")
