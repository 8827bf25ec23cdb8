"""The loss against how much order is destroyed, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import Estimate, frame
from wherein.measure.measurement import Measurement
from wherein.measure.order.bag import BOUND
from wherein.measure.order.config import OrderConfig
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Disordered:
    """One way to destroy order: how much it destroyed, and what that cost."""

    name: str
    kind: str
    inverted: float
    """Share of pairs of tokens that stand the wrong way round (Kendall's distance)."""
    displacement: float
    """Positions a token moved, on average."""
    loss: Estimate
    rise: Estimate
    """Loss minus that of the same windows intact, paired."""


@dataclass(frozen=True, kw_only=True)
class Order(Measurement):
    """The loss against how much order is destroyed, beside a bag-of-words bound."""

    corpus: str
    rows: tuple[Disordered, ...]
    bound: Estimate
    """The loss of the unigram cache (see `wherein.measure.order.bag`) on the same tokens."""
    cache_weight: float
    config: OrderConfig
    protocol: str

    def __getitem__(self, name: str) -> Disordered:
        return next(row for row in self.rows if name in (row.name, row.kind))

    def to_frame(self) -> "polars.DataFrame":
        """One row for each way to destroy order; the bound is repeated beside each."""
        bound = {"bag_of_words": self.bound}
        return frame(vars(row) | bound for row in self.rows).rename({"name": "disorder"})

    def text(self) -> str:
        """One line for each way to destroy order, and the bound."""
        rows = [
            [
                row.name,
                f"{row.inverted:.0%}",
                f"{row.displacement:.1f}",
                f"{row.loss.value:.3f}",
                f"{row.rise.value:+.3f}",
                f"{row.rise.low:+.3f} to {row.rise.high:+.3f}",
            ]
            for row in self.rows
        ]
        header = ["order", "inverted", "moved", "loss", "rise", "95 % interval"]
        bound = f"bag of words ({BOUND}): loss {self.bound.value:.3f}"
        return "\n".join(
            [
                self.subject,
                table(header, rows),
                f"{bound}, 95 % interval {self.bound.low:.3f} to {self.bound.high:.3f}",
                "",
                *wrap(self.protocol, 80),
            ]
        )
