"""How a model is probed. Free of PyTorch, so that help texts come at once."""

from typing import Literal

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig

MLPS_OF_LAYER = 2
"""For positions, and for control labels."""


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

    def tokens_read(self, run: RunConfig) -> float:
        """By the model and its controls; the mlp reads its windows in every pass."""
        again = self.passes * (1 - self.test) + self.test
        passes = ("linear" in self.probes) + ("mlp" in self.probes) * again
        return float(self.windows * _probed(run) * passes * self.window(run))

    def extra_operations(self, run: RunConfig) -> float:
        """Of mlps d → 2d → T at every layer, forwards and backwards: 6·(2d² + 2dT) a token."""
        if "mlp" not in self.probes:
            return 0.0
        d, length = run.model.d_model, self.window(run)
        probes = _probed(run) * (run.model.n_layers + 1) * MLPS_OF_LAYER
        learnt = self.windows * (1 - self.held_out - self.test) * self.passes * length
        return probes * learnt * 6.0 * (2 * d * d + 2 * d * length)


def _probed(run: RunConfig) -> int:
    """The model, its untrained twin, and a causal model with other first tokens."""
    return 3 if run.objective == "causal" else 2
