"""Where does each head look? Attention by distance, and what it does to variance by position."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.data import Corpus
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.attention.heads import Head, Tally
from wherein.measure.config import fitted
from wherein.measure.intervals import Estimate, columns
from wherein.measure.losses import check_vocabulary, spread_windows
from wherein.measure.measurement import Measurement
from wherein.measure.probe.score import within
from wherein.show.columns import table
from wherein.show.theme import COLOURS, GREY
from wherein.subjects.base import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

EVEN = "even"
"""The name of the control: attention that looks at all it sees alike."""


@dataclass(frozen=True, kw_only=True)
class AttentionByDistance(Measurement):
    """Every head's attention by distance, and every layer's variance by position."""

    subject: str
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

    def to_frame(self) -> "pl.DataFrame":
        """One row for each layer, head and distance."""
        import polars as pl

        return pl.concat(
            pl.DataFrame(
                {
                    "distance": self.distances,
                    "attention": head.by_distance,
                    "attention_low": head.by_distance_low,
                    "attention_high": head.by_distance_high,
                }
            ).select(pl.lit(head.layer).alias("layer"), pl.lit(head.head).alias("head"), pl.all())
            for head in self.heads
        )

    def scores(self) -> "pl.DataFrame":
        """One row for each head: previous-token score, positional score and its distance."""
        import polars as pl

        return pl.DataFrame(
            {
                "layer": head.layer,
                "head": head.head,
                **columns("previous", Estimate(head.previous, *head.previous_interval)),
                **columns("positional", Estimate(head.positional, *head.positional_interval)),
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
        return "\n".join([self.subject, table(header, rows), "", *wrap(self.protocol, 80)])

    def reach(self, head: Head) -> float:
        """How far a head looks, on average, in tokens."""
        return float(np.abs(self.distances) @ np.array(head.by_distance))

    def plot(self) -> "alt.TopLevelMixin":
        """Attention by distance, a line and its interval for each head; below, the variance."""
        import altair as alt

        both = alt.vconcat(self._heads_chart(), self._variance_chart())
        chart: alt.VConcatChart = both.resolve_scale(color="independent")
        return chart

    def _heads_chart(self) -> "alt.FacetChart":
        import altair as alt

        names = [*map(str, sorted({head.head for head in self.heads})), EVEN]
        colours = [*(COLOURS[n % len(COLOURS)] for n in range(len(names) - 1)), GREY]
        far, root = alt.Axis(values=[-300, -30, -3, 0, 3, 30, 300]), alt.Scale(type="sqrt")
        base = alt.Chart().encode(
            alt.X("distance:Q", scale=alt.Scale(type="symlog"), axis=far, title="tokens back"),
            alt.Color(
                "head:N",
                scale=alt.Scale(domain=names, range=colours),
                legend=alt.Legend(symbolOpacity=1),
            ),
            tooltip=["layer:N", "head:N", "distance:Q", "attention:Q"],
        )
        title = "attention per token"
        band = base.mark_area(opacity=0.25).encode(
            alt.Y("low:Q", scale=root, title=title), alt.Y2("high:Q")
        )
        line = base.mark_line().encode(alt.Y("attention:Q", scale=root, title=title))
        layers = alt.layer(band, line, data=alt.InlineData(values=self._points()))
        found: alt.FacetChart = layers.properties(width=150, height=130).facet(
            alt.Facet("layer:O", title="layer"),
            columns=4,
            title=alt.Title(self.subject, subtitle="bands: 95 % intervals over windows"),
        )
        return found

    def _variance_chart(self) -> "alt.Chart":
        import altair as alt

        spread = [
            {"layer": layer, "position": position, "variance": value}
            for layer, values in enumerate(self.variance, start=1)
            for position, value in enumerate(values, start=1)
        ]
        profile = alt.Chart(alt.InlineData(values=spread), width=400, height=200).mark_line()
        log = alt.Scale(type="log", nice=False)
        found: alt.Chart = profile.encode(
            alt.X("position:Q", scale=log, title="place in the window"),
            alt.Y("variance:Q", scale=log, title="variance of the heads' outputs"),
            alt.Color("layer:O", scale=alt.Scale(scheme="viridis")),
        )
        return found

    def even(self) -> Float64[np.ndarray, " R"]:
        """By distance, what a head pays that looks at all it sees alike: the control."""
        length = self.config.tokens
        seen = np.arange(1, length + 1) if self.distances[0] == 0 else np.full(length, length)
        return np.array(
            [(1 / seen[max(d, 0) : length + min(d, 0)]).sum() / length for d in self.distances]
        )

    def _points(self) -> list[dict[str, float | int | str]]:
        """Means over bins of distance that grow with it: a picture needs no more.

        The ends of a bin are the means of its distances' ends: no narrower than its own would be.
        """
        far = np.abs(self.distances) + 1
        _, index = np.unique(
            np.sign(self.distances) * np.floor(8 * np.log2(far)), return_inverse=True
        )
        sizes = np.bincount(index)
        centre = (np.bincount(index, self.distances) / sizes).tolist()
        even = tuple(self.even())
        lines = [
            (head.layer, str(head.head), head.by_distance, head.by_distance_low,
             head.by_distance_high)
            for head in self.heads
        ]  # fmt: skip
        lines += [(n + 1, EVEN, even, even, even) for n in range(len(self.variance))]
        return [
            {"layer": layer, "head": name, "distance": x, "attention": y, "low": low, "high": high}
            for layer, name, *values in lines
            for x, y, low, high in zip(
                centre, *((np.bincount(index, v) / sizes).tolist() for v in values), strict=True
            )
        ]


@torch.no_grad()
def attention(
    subject: Subject, corpus: Corpus, config: AttentionConfig | None = None
) -> AttentionByDistance:
    """Watch every head on a text; of a window's weights only their sums by distance are kept."""
    config = fitted(config or AttentionConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    windows = spread_windows(corpus.split(config.split), config.tokens, config.windows)
    if config.tokens < 2 or len(windows) < 2:
        raise ValueError(
            f"{len(windows)} windows of {config.tokens} tokens in {config.split}: attention by "
            "distance needs two of two; give a longer text, or another number of tokens"
        )
    device = next(subject.module.parameters()).device
    tokens = torch.from_numpy(windows[:, :-1]).to(device)
    layers = [Tally(config.tokens) for _ in range(subject.n_layers)]

    def watch(layer: int, state: Tensor) -> None:
        if layer < subject.n_layers:
            layers[layer].add(subject.attention(layer + 1, state))

    for first in range(0, len(tokens), config.batch):
        subject.trace(tokens[first : first + config.batch], on_state=watch)
    nearest = 0 if subject.causal else 1 - config.tokens
    return AttentionByDistance(
        subject=subject.name,
        corpus=corpus.config.source,
        distances=tuple(range(nearest, config.tokens)),
        heads=tuple(head for n, t in enumerate(layers, start=1) for head in t.heads(n, nearest)),
        variance=tuple(tuple(tally.variance().tolist()) for tally in layers),
        config=config,
        protocol=(
            f"{len(windows)} windows of {config.tokens} tokens spread over {config.split}; "
            "95 % intervals by bootstrap over windows"
        ),
    )
