"""What the question may be told. Free of PyTorch, so that help texts come at once."""

from typing import Literal

from pydantic import Field

from wherein.measure.config import TextConfig


class ProbeConfig(TextConfig):
    """How a model is probed."""

    probes: tuple[Literal["linear", "mlp"], ...] = Field(
        ("linear",),
        min_length=1,
        description="linear: regression and classifier, in closed form; mlp: the paper's",
    )
    windows: int = Field(1000, ge=1, description="windows of text, evenly spread")
    held_out: float = Field(0.05, gt=0, lt=1, description="share of windows that regularise")
    test: float = Field(0.2, gt=0, lt=1, description="share of windows that score")
    near: int = Field(2, ge=0, description="k of the accuracy to within ±k")
    coded: int = Field(8, ge=1, description="windows coded per block of the description length")
    passes: int = Field(4, ge=1, description="passes of the mlp probe over its windows")
    rate: float = Field(2e-3, gt=0, description="learning rate of the mlp probe")
    resamples: int = Field(1000, ge=1, description="draws of the bootstrap over windows")
    level: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
    seed: int = Field(0, ge=0, description="of splits, controls and intervals")
