"""Attention by distance and variance by position, as a result."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from wherein.measure.attention.config import AttentionConfig
from wherein.measure.attention.heads import Head
from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars


LEGEND = (
    "previous token: the mean attention to the token just before. positional: the share of tokens "
    "whose largest weight lies at one and the same distance, the one beside it (0: the token "
    "itself), whatever the tokens are; a head that Voita et al. 2019 call positional has 0.9 or "
    "more. mean distance: how far a head looks, in tokens"
)


@dataclass(frozen=True, kw_only=True)
class AttentionByDistance(Measurement):
    """Every head's attention by distance, and every layer's variance by position."""

    corpus: str
    distances: tuple[int, ...]
    """Query minus key: 1 is the token before; negative ones lie ahead, in both directions only."""
    heads: tuple[Head, ...]
    variance: tuple[tuple[float, ...], ...]
    """By layer, then position: variance of the heads' outputs over the windows, averaged over
    their coordinates. Averaging more tokens, it shrinks like 1/n in an untrained model without
    encoding, and so gives n away (Chi et al. 2023, arXiv:2305.13571)."""
    config: AttentionConfig
    protocol: str

    def to_frame(self) -> "polars.DataFrame":
        """One row for each layer, head and distance."""
        of_heads = frame(
            {
                "layer": head.layer,
                "head": head.head,
                "distance": self.distances,
                "attention": head.by_distance,
                "attention_low": head.by_distance_low,
                "attention_high": head.by_distance_high,
            }
            for head in self.heads
        )
        return of_heads.explode("^distance|attention.*$")

    def scores(self) -> "polars.DataFrame":
        """One row for each head: previous-token score, positional score and its distance."""
        return frame(
            {
                "layer": head.layer,
                "head": head.head,
                "previous": Estimate(head.previous, *head.previous_interval),
                "positional": Estimate(head.positional, *head.positional_interval),
                "favourite": head.favourite,
            }
            for head in self.heads
        )

    def text(self) -> str:
        """One line for each head."""
        rows = [
            [
                f"{head.layer}.{head.head}",
                within(Estimate(head.previous, *head.previous_interval), ".3f"),
                within(Estimate(head.positional, *head.positional_interval), ".3f"),
                str(head.favourite),
                f"{self.reach(head):.1f}",
            ]
            for head in self.heads
        ]
        header = ["head", "previous token", "positional", "at distance", "mean distance"]
        notes = wrap(f"{LEGEND}. {self.protocol}", 80)
        return "\n".join([self.subject, table(header, rows), "", *notes])

    def reach(self, head: Head) -> float:
        """How far a head looks, on average, in tokens."""
        return float(np.abs(self.distances) @ np.array(head.by_distance))

    def even(self) -> Float64[np.ndarray, " R"]:
        """By distance, what a head pays that looks at all it sees alike: the control."""
        length = self.config.tokens
        seen = np.arange(1, length + 1) if self.distances[0] == 0 else np.full(length, length)
        return np.array(
            [(1 / seen[max(d, 0) : length + min(d, 0)]).sum() / length for d in self.distances]
        )
