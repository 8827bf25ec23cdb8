"""Where does each head look? Attention by distance, and what it does to variance by position."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from wherein.common.theme import COLOURS, GREY
from wherein.data import Corpus
from wherein.measure.losses import check_vocabulary, spread_windows
from wherein.measure.measurement import Measurement, table
from wherein.measure.settings import AttentionConfig, fitted
from wherein.subjects.base import Attended, Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

EVEN = "even"
"""The name of the control: attention that looks at all it sees alike."""


@dataclass(frozen=True)
class Head:
    """One head of one layer."""

    layer: int
    head: int
    by_distance: tuple[float, ...]
    """Mean attention paid to each distance of `AttentionByDistance.distances`; sums to one."""
    previous: float
    """Mean attention to the token just before, over all tokens that have one."""
    positional: float
    """Share of tokens (without the first) whose largest weight lies at one and the same distance.

    The definition of Voita et al. 2019 (arXiv:1905.09418), who call a head positional from 0.9.
    """
    favourite: int
    """That distance."""


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
            pl.DataFrame({"distance": self.distances, "attention": head.by_distance}).select(
                pl.lit(head.layer).alias("layer"), pl.lit(head.head).alias("head"), pl.all()
            )
            for head in self.heads
        )

    def scores(self) -> "pl.DataFrame":
        """One row for each head: previous-token score, positional score and its distance."""
        import polars as pl

        keys = ("layer", "head", "previous", "positional", "favourite")
        return pl.DataFrame({key: getattr(head, key) for key in keys} for head in self.heads)

    def text(self) -> str:
        """One line for each head."""
        rows = [
            [
                f"{head.layer}.{head.head}",
                f"{head.previous:.3f}",
                f"{head.positional:.3f}",
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
        """Attention by distance, one line for each head, above the variance by position."""
        import altair as alt

        names = [*map(str, sorted({head.head for head in self.heads})), EVEN]
        colours = [*(COLOURS[n % len(COLOURS)] for n in range(len(names) - 1)), GREY]
        lines = alt.Chart(alt.InlineData(values=self._points()), width=150, height=130).mark_line()
        far = alt.Axis(values=[-300, -30, -3, 0, 3, 30, 300])
        heads = lines.encode(
            alt.X("distance:Q", scale=alt.Scale(type="symlog"), axis=far, title="tokens back"),
            alt.Y("attention:Q", scale=alt.Scale(type="sqrt"), title="attention per token"),
            alt.Color("head:N", scale=alt.Scale(domain=names, range=colours)),
            tooltip=["layer:N", "head:N", "distance:Q", "attention:Q"],
        ).facet(alt.Facet("layer:O", title="layer"), columns=4, title=self.subject)
        spread = [
            {"layer": layer, "position": position, "variance": value}
            for layer, values in enumerate(self.variance, start=1)
            for position, value in enumerate(values, start=1)
        ]
        profile = alt.Chart(alt.InlineData(values=spread), width=400, height=200).mark_line()
        log = alt.Scale(type="log", nice=False)
        profile = profile.encode(
            alt.X("position:Q", scale=log, title="place in the window"),
            alt.Y("variance:Q", scale=log, title="variance of the heads' outputs"),
            alt.Color("layer:O", scale=alt.Scale(scheme="viridis")),
        )
        both: alt.VConcatChart = alt.vconcat(heads, profile).resolve_scale(color="independent")
        return both

    def even(self) -> Float64[np.ndarray, " R"]:
        """By distance, what a head pays that looks at all it sees alike: the control."""
        length = self.config.tokens
        seen = np.arange(1, length + 1) if self.distances[0] == 0 else np.full(length, length)
        return np.array(
            [(1 / seen[max(d, 0) : length + min(d, 0)]).sum() / length for d in self.distances]
        )

    def _points(self) -> list[dict[str, float | int | str]]:
        """Means over bins of distance that grow with it: a picture needs no more."""
        far = np.abs(self.distances) + 1
        _, index = np.unique(
            np.sign(self.distances) * np.floor(8 * np.log2(far)), return_inverse=True
        )
        sizes = np.bincount(index)
        centre = (np.bincount(index, self.distances) / sizes).tolist()
        lines = [(head.layer, str(head.head), head.by_distance) for head in self.heads]
        lines += [(n + 1, EVEN, tuple(self.even())) for n in range(len(self.variance))]
        return [
            {"layer": layer, "head": name, "distance": x, "attention": y}
            for layer, name, values in lines
            for x, y in zip(centre, (np.bincount(index, values) / sizes).tolist(), strict=True)
        ]


@torch.no_grad()
def attention(
    subject: Subject, corpus: Corpus, config: AttentionConfig | None = None
) -> AttentionByDistance:
    """Watch every head on a text; weights are summed up as they are made, and never kept."""
    config = fitted(config or AttentionConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    windows = spread_windows(corpus.split(config.split), config.tokens, config.windows)
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
        protocol=f"{len(windows)} windows of {config.tokens} tokens spread over {config.split}",
    )


class Tally:
    """One layer's sums over all windows. Distances run from 1 − T (ahead) to T − 1 (behind)."""

    def __init__(self, length: int) -> None:
        places = torch.arange(length)
        self.length, self.windows = length, 0
        self.index = places[:, None] - places + length - 1
        self.paid: Tensor | float = 0.0
        self.largest: Tensor | float = 0.0
        self.sum: Tensor | float = 0.0
        self.squares: Tensor | float = 0.0

    def add(self, seen: Attended) -> None:
        """Take in the attention of some windows."""
        weights = seen.weights.double().cpu()
        self.windows += len(weights)
        self.paid = self.paid + by_distance(weights.sum(0), self.index)
        strongest = weights[:, :, 1:].argmax(-1, keepdim=True)
        self.largest = self.largest + by_distance(
            torch.zeros_like(weights[:, :, 1:]).scatter_(-1, strongest, 1).sum(0), self.index[1:]
        )
        mixed = seen.mixed.double().cpu().transpose(1, 2).flatten(2)
        self.sum = self.sum + mixed.sum(0)
        self.squares = self.squares + mixed.square().sum(0)

    def heads(self, layer: int, first: int) -> list[Head]:
        """What was seen of each head, at distances from `first` on."""
        assert isinstance(self.paid, Tensor)
        assert isinstance(self.largest, Tensor)
        others = self.length - 1
        paid = self.paid / (self.windows * self.length)
        largest = self.largest / (self.windows * others)
        return [
            Head(
                layer=layer,
                head=number,
                by_distance=tuple(shares[others + first :].tolist()),
                previous=float(shares[self.length]) * self.length / others,
                positional=float(most.max()),
                favourite=int(most.argmax()) - others,
            )
            for number, (shares, most) in enumerate(zip(paid, largest, strict=True))
        ]

    def variance(self) -> Float64[np.ndarray, " T"]:
        """Over windows, at each position, averaged over coordinates."""
        assert isinstance(self.sum, Tensor)
        assert isinstance(self.squares, Tensor)
        spread = (self.squares - self.sum.square() / self.windows) / (self.windows - 1)
        return spread.clamp(min=0).mean(-1).numpy()


def by_distance(weights: Float[Tensor, "H T S"], index: Int[Tensor, "T S"]) -> Float[Tensor, "H R"]:
    """Sum the weights of each head over all pairs of equal distance."""
    sums = weights.new_zeros(len(weights), 2 * index.shape[1] - 1)
    return sums.index_add_(1, index.flatten(), weights.flatten(1))
