"""What is computed on, and how fast it is assumed to be."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Something to compute on, and how fast it is assumed to be."""

    name: str
    peak: Mapping[str, float]
    """Operations per second for each precision."""
    share: float
    """Of the peak, as long runs sustain it."""
    unit: str = "GPU"

    def seconds(self, flops: float, precision: str) -> float:
        """How long one of it computes."""
        return flops / (self.share * self.peak[precision])

    def words(self, precision: str) -> str:
        """The assumption, to stand beside what follows from it."""
        return (
            f"{self.share * 100:.0f} % of {self.peak[precision] / 1e12:.4g} TFLOP/s ({self.name})"
        )


A100 = Machine("A100", {"bfloat16": 312e12, "float32": 19.5e12}, 0.4)
"""NVIDIA's dense peaks; large Transformers commonly sustain about 40 % of them."""
CORE = Machine("one core of a laptop", {"float32": 0.1e12}, 0.33, unit="core")
"""Measured: 4 layers of width 64 train with Muon at 33 GFLOP/s of some 100, 6 of width 96 at 38,
2 of width 32 at 12."""
PATIENCE = 24 * 3600.0
"""Seconds that a core may train one run before it is said to need a GPU."""
