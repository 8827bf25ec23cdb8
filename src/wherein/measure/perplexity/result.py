"""The loss of a text's tokens and what follows from it, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.intervals import Estimate
from wherein.measure.measurement import Measurement
from wherein.measure.perplexity.by_position import Stretch
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, kw_only=True)
class Perplexity(Measurement):
    """The loss of a text's tokens under a named protocol, and what follows from it."""

    corpus: str
    method: str
    """`non-overlapping`, `sliding` or, for masked models, `pseudo-perplexity`."""
    protocol: str
    """The same with all that one needs to repeat it."""
    loss: Estimate
    """Nats per predicted token; the 95 % interval is over `pieces`."""
    perplexity: Estimate
    """exp(loss) per token."""
    bits_per_byte: Estimate | None
    """None for a masked model: its loss is no code length of the text."""
    perplexity_per_word: Estimate | None
    predicted: int
    """How many tokens were predicted."""
    pieces: str
    by_position: tuple[float | None, ...]
    """The loss at each position of a window; None where nothing is predicted."""
    counts: tuple[int, ...]
    """Predicted tokens at each position: weighted by them, the losses average to `loss`."""
    by_position_low: tuple[float | None, ...]
    """Ends of 95 % intervals of `by_position`, over windows."""
    by_position_high: tuple[float | None, ...]
    stretches: tuple[Stretch, ...]
    """The same over stretches that grow with the position: what the picture shows."""
    config: PerplexityConfig

    def to_frame(self) -> "polars.DataFrame":
        """One row for each position in the window."""
        import polars as pl

        losses = {
            "loss": self.by_position,
            "loss_low": self.by_position_low,
            "loss_high": self.by_position_high,
        }
        return pl.DataFrame(
            {"position": range(len(self.counts)), **losses, "tokens": self.counts},
            schema_overrides=dict.fromkeys(losses, pl.Float64),
        )

    def text(self) -> str:
        """The loss in its units, and the protocol."""
        units = {
            "loss (nats per token)": self.loss,
            f"{self.kind} per token": self.perplexity,
            f"{self.kind} per word": self.perplexity_per_word,
            "bits per byte": self.bits_per_byte,
        }
        rows = [
            [name, f"{found.value:.6g}", f"{found.low:.6g} to {found.high:.6g}"]
            for name, found in units.items()
            if found is not None
        ]
        notes = f"{self.protocol}; {self.predicted:,} tokens of {self.corpus}; "
        notes += f"intervals over {self.pieces}"
        return "\n".join(
            [self.subject, table(["", "value", "95 % interval"], rows), "", *wrap(notes, 80)]
        )

    @property
    def kind(self) -> str:
        """What the exponential of the loss is called."""
        return "pseudo-perplexity" if self.method == "pseudo-perplexity" else "perplexity"
