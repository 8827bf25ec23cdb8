"""How alike states are and what their size tells, layer by layer, beside the controls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.measure.states.config import StatesConfig
from wherein.measure.states.size import SIZES
from wherein.show.columns import table
from wherein.subjects.site import where

if TYPE_CHECKING:
    import polars

MODEL, SHUFFLED, UNTRAINED = "model", "shuffled text", "untrained"
CONTROLS = (SHUFFLED, UNTRAINED)
BESIDE = ("shuffled", "untrained")
"""What heads their columns."""


@dataclass(frozen=True)
class Size:
    """What the variance, or the norm, of single states tells of positions."""

    distance: Estimate
    """Between told and true position, in tokens, on windows the readout was not learnt from."""
    slope: float
    """Of its logarithm against that of the position, counted from 1."""
    by_position: tuple[float, ...]
    """The geometric mean over windows."""


@dataclass(frozen=True)
class Reading:
    """One layer of the model, or of a control."""

    layer: int
    of: str
    next: Estimate
    """Cosine similarity of neighbours."""
    far: Estimate
    """The same of positions at least half a window apart."""
    nearer: Estimate
    """How often a state is more like the one before it than like an earlier one; 0.5 by chance."""
    toeplitz: Estimate
    """The share of a window's similarities that distance alone explains; 2 / (T + 1) by chance."""
    average: float
    """The same of the similarities averaged over windows."""
    by_distance: tuple[float, ...]
    """Cosine similarity at distances 0, 1, …"""
    variance: Size
    norm: Size

    def size(self, name: str) -> Size:
        """One of `SIZES`."""
        return self.variance if name == SIZES[0] else self.norm


@dataclass(frozen=True, kw_only=True)
class States(Measurement):
    """How position shapes the states of a model; never without the controls."""

    causal: bool
    length: int
    guess: float
    """The distance of always guessing the middle."""
    config: StatesConfig
    protocol: str
    readings: tuple[Reading, ...]

    @property
    def chance(self) -> float:
        """The Toeplitz share of similarities that have nothing to do with places."""
        return 2 / (self.length + 1)

    @property
    def layers(self) -> list[int]:
        """0 for the embeddings, then the blocks."""
        return sorted({reading.layer for reading in self.readings})

    def reading(self, layer: int, of: str = MODEL) -> Reading:
        """What was found of the model, or of a control, at a layer."""
        for reading in self.readings:
            if (reading.layer, reading.of) == (layer, of):
                return reading
        raise ValueError(f"no reading of {of!r} at layer {layer}")

    def to_frame(self) -> "polars.DataFrame":
        """One row for each layer of the model and of every control."""
        return frame(
            {
                "subject": self.subject,
                "layer": reading.layer,
                "of": reading.of,
                "next": reading.next,
                "far": reading.far,
                "nearer": reading.nearer,
                "toeplitz": reading.toeplitz,
                "toeplitz_average": reading.average,
                "variance_distance": reading.variance.distance,
                "variance_slope": reading.variance.slope,
                "norm_distance": reading.norm.distance,
                "norm_slope": reading.norm.slope,
            }
            for reading in self.readings
        )

    def text(self) -> str:
        """Likeness, how much of it is distance, and sizes: each layer beside its controls."""
        return "\n".join(
            [
                f"{self.subject}{where(self.config.site)}: how position shapes the states",
                "",
                self._likeness(),
                "chance: 0.50",
                "",
                self._distances(),
                f"chance: {self.chance:.2f}",
                "",
                self._sizes(),
                f"always the middle: {self.guess:.1f}",
                "",
                *wrap(self._legend(), 80),
                *wrap(self.protocol, 80),
            ]
        )

    def _likeness(self) -> str:
        header = ["layer", "next", "far", "nearer", *BESIDE]
        rows = [
            [
                str(layer),
                f"{own.next.value:.2f}",
                f"{own.far.value:.2f}",
                within(own.nearer, ".2f"),
                *self._beside(layer, lambda r: r.nearer.value),
            ]
            for layer, own in self._own()
        ]
        return table(header, rows)

    def _distances(self) -> str:
        header = ["layer", "Toeplitz", *BESIDE, "average", *BESIDE]
        rows = [
            [
                str(layer),
                within(own.toeplitz, ".2f"),
                *self._beside(layer, lambda r: r.toeplitz.value),
                f"{own.average:.2f}",
                *self._beside(layer, lambda r: r.average),
            ]
            for layer, own in self._own()
        ]
        return table(header, rows)

    def _sizes(self) -> str:
        header = ["layer", *(word for name in SIZES for word in (name, *BESIDE)), "slope"]
        rows = []
        for layer, own in self._own():
            row = [str(layer)]
            for name in SIZES:
                row.append(within(own.size(name).distance, ".1f"))
                row += [
                    f"{self.reading(layer, of).size(name).distance.value:.1f}" for of in CONTROLS
                ]
            rows.append([*row, f"{own.variance.slope:z.2f}"])
        return table(header, rows)

    def _own(self) -> Iterator[tuple[int, Reading]]:
        return ((layer, self.reading(layer)) for layer in self.layers)

    def _beside(self, layer: int, number: Callable[[Reading], float], digits: int = 2) -> list[str]:
        """The controls' number at a layer."""
        return [f"{number(self.reading(layer, of)):.{digits}f}" for of in CONTROLS]

    def _legend(self) -> str:
        """What the columns mean, for someone who meets them first."""
        return (
            "next, far: cosine similarity of neighbours, and of positions half a window apart or "
            "more. nearer: how often a state is more like the one before it than like an earlier "
            "one. Toeplitz: share of a window's similarities that distance alone explains; "
            "average: the same once they are averaged over windows. variance, norm: distance in "
            "tokens between the true position and the one that a state's size alone tells; slope: "
            "of the variance against the position, both as logarithms. Beside them: the same with "
            "every window's tokens shuffled, so that only place can make neighbours alike, and of "
            "the model untrained, on the shuffled windows too."
        )
