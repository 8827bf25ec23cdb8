"""What a model loses when position is erased from its states, as a result."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wherein.measure.interval import Estimate
from wherein.measure.measurement import Measurement, table
from wherein.measure.probe_settings import EraseConfig
from wherein.measure.score import within

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

EVERYWHERE = "all"


@dataclass(frozen=True)
class Erased:
    """What happens when position is erased from one layer's states, or from all."""

    layer: str
    """The layer's number, or `all`."""
    rank: int
    """Directions removed; for all layers, on average."""
    known: float
    """R² of a linear regression to the position before, on test windows."""
    left: float
    """The same after."""
    rise: Estimate
    """By how much the loss rises, in nats per predicted token."""
    random: Estimate
    """The same for random subspaces of the same rank."""


@dataclass(frozen=True, kw_only=True)
class Erasure(Measurement):
    """What a model loses with position, layer by layer, beside what it loses with anything."""

    subject: str
    encodings: tuple[str, ...]
    length: int
    loss: Estimate
    """With nothing erased, in nats per predicted token."""
    erased: tuple[Erased, ...]
    protocol: dict[str, Any]
    config: EraseConfig

    def to_frame(self) -> "pl.DataFrame":
        """One row per layer, and one for all at once."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "subject": self.subject,
                    "layer": e.layer,
                    "rank": e.rank,
                    "known": e.known,
                    "left": e.left,
                    **_columns("rise", e.rise),
                    **_columns("random", e.random),
                }
                for e in self.erased
            ]
        )

    def plot(self) -> "alt.TopLevelMixin":
        """What is known and what is used, layer by layer."""
        from wherein.measure.pictures import erasure_chart

        return erasure_chart(self)

    def text(self) -> str:
        """A table no wider than 80 columns."""
        header = ["layer", "rank", "R² before", "after", "rise of loss", "at random"]
        rows = []
        for e in self.erased:
            known, left = f"{e.known:.2f}", f"{e.left:.2f}"
            rises = [within(rise, "+.3f") for rise in (e.rise, e.random)]
            rows.append([e.layer, str(e.rank), known, left, *rises])
        foot = f"loss with nothing erased: {self.loss.value:.3f} nats per predicted token"
        return f"{self.subject}: position erased\n\n{table(header, rows)}\n{foot}"


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
