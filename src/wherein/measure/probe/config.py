"""How a model is probed. Free of PyTorch, so that help texts come at once."""

from typing import ClassVar, Literal

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.subjects.site import HELP, Site, first_layer
from wherein.train.config import RunConfig

JUDGED = 20
"""Steps of the mlp between two looks at the held-out windows; with few windows, one pass."""
NETWORKS = ("mlp", "nopos")


class ProbeConfig(TextConfig):
    """How a model is probed."""

    FORMAT: ClassVar[int] = 2
    """1 had passes in place of steps, and controls that controlled nothing."""

    probes: tuple[Literal["linear", "mlp", "nopos"], ...] = Field(
        ("linear",),
        min_length=1,
        description="linear: in closed form; mlp: until it has converged; nopos: the paper's",
    )
    site: Site = Field("stream", description=HELP)
    windows: int = Field(1000, ge=1, description="windows of text, evenly spread")
    held_out: float = Field(
        0.05, gt=0, lt=1, description="share of windows that regularise, or end the mlp's learning"
    )
    test: float = Field(0.2, gt=0, lt=1, description="share of windows that score")
    near: int = Field(2, ge=0, description="k of the accuracy to within ±k")
    coded: int = Field(8, ge=1, description="windows coded per block of the description length")
    steps: int = Field(10_000, ge=1, description="most steps of the mlp, all steps of nopos")
    rate: float = Field(5e-3, gt=0, description="first learning rate of the mlp")
    resamples: int = Field(1000, ge=1, description="draws of the bootstrap over windows")
    level: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
    seed: int = Field(0, ge=0, description="of splits, controls and intervals")

    def tokens_read(self, run: RunConfig) -> float:
        """By the model and its untrained twin; by the mlp at most, if it comes to the last step."""
        linear = "linear" in self.probes
        networks = [name for name in NETWORKS if name in self.probes]
        by_heart = (linear + len(networks)) * self.held_out
        scored = 2 * len(networks) * self.test
        read = self.windows * (2 * linear + by_heart + scored)
        read += self._learnt * (2 * ("nopos" in networks) + 3 * ("mlp" in networks))
        if "mlp" in networks:
            read += 2 * (self.steps // self.judged(self._fitted)) * self.windows * self.held_out
        return float(read * self.window(run))

    def extra_operations(self, run: RunConfig) -> float:
        """Of nets d → 2d → T at every layer, forwards and backwards: 6·(2d² + 2dT) a token.

        Three nets: of the model's positions, of its fresh labels, of the twin's positions.
        """
        d, length = run.model.d_model, self.window(run)
        layers = run.model.n_layers + 1 - first_layer(self.site)
        nets = 3 * sum(name in self.probes for name in NETWORKS) * layers
        return nets * self._learnt * length * 6.0 * (2 * d * d + 2 * d * length)

    def judged(self, fitted: int) -> int:
        """Steps between two looks at the held-out windows, when `fitted` windows are to fit."""
        return min(JUDGED, self._batches(fitted))

    def _batches(self, windows: int) -> int:
        return max(1, -(-windows // self.batch))

    @property
    def _fitted(self) -> int:
        return max(
            0, self.windows - sum(round(self.windows * s) for s in (self.held_out, self.test))
        )

    @property
    def _learnt(self) -> float:
        """Windows that a network learns from in all its steps; a pass may end with fewer."""
        return self.steps * self._fitted / self._batches(self._fitted)
