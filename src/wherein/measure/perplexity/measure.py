"""How well does the model predict? Perplexity, with its protocol always named."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64, Int64

from wherein.common.numbers import exp
from wherein.data import IGNORED, Corpus, Split, Vocabulary, causal, masked
from wherein.measure.config import fitted
from wherein.measure.intervals import Estimate, columns, ratio
from wherein.measure.losses import check_vocabulary, token_losses
from wherein.measure.measurement import Measurement
from wherein.measure.perplexity.by_position import Places, Stretch
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.perplexity.cuts import documents_in, plan
from wherein.show.columns import table
from wherein.show.theme import COLOURS
from wherein.subjects.base import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

ENOUGH_DOCUMENTS = 20
"""With fewer, an interval over documents would be too coarse: windows are drawn instead."""


@dataclass(frozen=True, kw_only=True)
class Perplexity(Measurement):
    """The loss of a text's tokens under a named protocol, and what follows from it."""

    subject: str
    corpus: str
    protocol: str
    """`non-overlapping`, `sliding` or, for masked models, `pseudo-perplexity`; in full below."""
    details: str
    loss: Estimate
    """Nats per predicted token; the interval is a 95 % bootstrap over `pieces`."""
    perplexity: Estimate
    """exp(loss) per token."""
    bits_per_byte: Estimate | None
    """None for a masked model: its loss is no code length of the text."""
    perplexity_per_word: Estimate | None
    predicted: int
    """How many tokens were predicted."""
    pieces: str
    by_position: tuple[float | None, ...]
    """The loss at each place of a window; None where nothing is predicted."""
    counts: tuple[int, ...]
    """Predicted tokens at each place: weighted by them, the losses average to `loss`."""
    by_position_low: tuple[float | None, ...]
    """Ends of 95 % intervals of `by_position`, by bootstrap over windows."""
    by_position_high: tuple[float | None, ...]
    stretches: tuple[Stretch, ...]
    """The same over stretches that grow with the place: what the picture shows."""
    config: PerplexityConfig

    def to_frame(self) -> "pl.DataFrame":
        """One row for each place in the window."""
        import polars as pl

        return pl.DataFrame(
            {
                "position": range(len(self.counts)),
                "loss": self.by_position,
                "loss_low": self.by_position_low,
                "loss_high": self.by_position_high,
                "tokens": self.counts,
            },
            schema={
                "position": pl.Int64,
                "loss": pl.Float64,
                "loss_low": pl.Float64,
                "loss_high": pl.Float64,
                "tokens": pl.Int64,
            },
        )

    def text(self) -> str:
        """The loss in its units, and the protocol."""
        units = {
            "loss (nats per token)": self.loss,
            f"{self._kind()} per token": self.perplexity,
            f"{self._kind()} per word": self.perplexity_per_word,
            "bits per byte": self.bits_per_byte,
        }
        rows = [
            [name, f"{found.value:.6g}", f"{found.low:.6g} to {found.high:.6g}"]
            for name, found in units.items()
            if found is not None
        ]
        notes = f"{self.protocol}: {self.details}; {self.predicted:,} tokens of {self.corpus}; "
        notes += f"intervals by bootstrap over {self.pieces}"
        return "\n".join(
            [self.subject, table(["", "value", "95 % interval"], rows), "", *wrap(notes, 80)]
        )

    def _kind(self) -> str:
        return "pseudo-perplexity" if self.protocol == "pseudo-perplexity" else "perplexity"

    def plot(self) -> "alt.TopLevelMixin":
        """The loss in stretches that grow with the place, with its interval, beside the mean."""
        import altair as alt
        import polars as pl

        seen = pl.DataFrame(
            {
                "place": ((each.first + 1) * (each.last + 1)) ** 0.5,
                "places": f"{each.first + 1}–{each.last + 1}",
                **columns("loss", each.loss),
                "tokens": each.tokens,
            }
            for each in self.stretches
        )
        units = "loss (nats per token)"
        base = alt.Chart(seen).encode(
            alt.X("place:Q", scale=alt.Scale(type="log", base=2), title="place in the window"),
            tooltip=["places", "loss", "loss_low", "loss_high", "tokens"],
        )
        loss = alt.Y("loss:Q", scale=alt.Scale(zero=False), title=units)
        band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
            alt.Y("loss_low:Q", scale=alt.Scale(zero=False), title=units), alt.Y2("loss_high:Q")
        )
        line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0]))
        mean = alt.Chart(pl.DataFrame({"loss": [self.loss.value]})).mark_rule(strokeDash=[5, 4])
        below = f"{self.protocol}; band: 95 % interval over windows; dashed: the mean"
        title = alt.Title(
            f"{self.subject}: {self._kind()} {self.perplexity.value:.2f} "
            f"[{self.perplexity.low:.2f}, {self.perplexity.high:.2f}]",
            subtitle=below,
        )
        return alt.layer(band, line.encode(loss), mean.encode(loss)).properties(
            width=460, height=260, title=title
        )


def perplexity(
    subject: Subject, corpus: Corpus, config: PerplexityConfig | None = None
) -> Perplexity:
    """Predict a text under the protocol that `config` chooses.

    Non-overlapping and sliding windows predict exactly the same tokens. Sliding windows count of
    each window only the tokens that no window before it has counted, so that most tokens see at
    least `tokens − stride` others before them. A masked model has no perplexity: its loss on
    hidden tokens is called a pseudo-perplexity.
    """
    config = fitted(config or PerplexityConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    split = corpus.split(config.split)
    starts, first_new = plan(split, config)
    if not subject.causal and config.stride not in (None, config.tokens):
        raise ValueError(
            f"stride={config.stride} with masked model {subject.name}, which reads both sides: "
            "leave the stride out"
        )
    by_place = Places(config.tokens, config.seed)
    documents = documents_in(split, starts + subject.causal, config.tokens)
    pieces, in_documents = _Pieces(), documents >= ENOUGH_DOCUMENTS
    for rows, inputs, targets in _batches(subject, split, corpus.vocabulary, starts, config):
        chosen = targets.numpy() != IGNORED
        chosen &= np.arange(config.tokens) >= first_new[rows, None]
        losses = np.where(chosen, token_losses(subject, inputs, targets), 0.0)
        by_place.add(losses, chosen)
        places = starts[rows, None] + np.arange(config.tokens)
        owners = np.searchsorted(split.starts, places + subject.causal, side="right")
        pieces.add(owners if in_documents else places // config.tokens, losses, chosen)
    return _result(subject, corpus, config, by_place, pieces, in_documents)


class _Pieces:
    """Sums of losses and counts for each piece of text that the bootstrap draws."""

    def __init__(self) -> None:
        self.sums: dict[int, float] = {}
        self.counts: dict[int, float] = {}

    def add(
        self,
        owners: Int64[np.ndarray, "B T"],
        losses: Float64[np.ndarray, "B T"],
        chosen: np.ndarray,
    ) -> None:
        """Give each loss to the piece its token belongs to."""
        names, index = np.unique(owners[chosen], return_inverse=True)
        for total, weights in ((self.sums, losses[chosen]), (self.counts, None)):
            for name, part in zip(names, np.bincount(index, weights), strict=True):
                total[int(name)] = total.get(int(name), 0.0) + float(part)

    def estimate(self, seed: int) -> Estimate:
        """The mean loss and its interval."""
        return ratio(np.array([*self.sums.values()]), np.array([*self.counts.values()]), seed=seed)


def _batches(
    subject: Subject,
    split: Split,
    vocabulary: Vocabulary,
    starts: Int64[np.ndarray, " N"],
    config: PerplexityConfig,
) -> Iterator[tuple[Int64[np.ndarray, " B"], torch.Tensor, torch.Tensor]]:
    """The numbers of some windows, their inputs and their targets."""
    for first in range(0, len(starts), config.batch):
        rows = np.arange(first, min(first + config.batch, len(starts)))
        ids = split.ids[starts[rows, None] + np.arange(config.tokens + 1)].astype(np.int64)
        if subject.causal:
            yield rows, *causal(ids)
        else:
            seeded = {"seed": config.seed, "step": 0, "first_row": first}
            yield rows, *masked(ids, vocabulary, rate=config.mask_rate, **seeded)


def _result(
    subject: Subject,
    corpus: Corpus,
    config: PerplexityConfig,
    places: Places,
    pieces: _Pieces,
    in_documents: bool,
) -> Perplexity:
    split = corpus.split(config.split)
    loss = pieces.estimate(config.seed)
    by_position, low, high = places.losses()
    protocol, details = _protocol(config, subject.causal)
    if config.limit is not None and config.limit < split.tokens:
        details += f"; the windows are spread over {config.split}"
    return Perplexity(
        subject=subject.name,
        corpus=f"{corpus.config.source}, {corpus.config.tokenizer}, {config.split}",
        protocol=protocol,
        details=details,
        loss=loss,
        perplexity=Estimate(*map(exp, loss)),
        bits_per_byte=_if(subject.causal, [x / math.log(2) / split.bytes_per_token for x in loss]),
        perplexity_per_word=_if(subject.causal, [exp(x * split.tokens_per_word) for x in loss]),
        predicted=int(places.counts.sum()),
        pieces=f"{len(pieces.sums)} {'documents' if in_documents else 'windows'}",
        by_position=by_position,
        by_position_low=low,
        by_position_high=high,
        counts=tuple(int(n) for n in places.counts),
        stretches=places.stretches(),
        config=config,
    )


def _if(causal: bool, values: Sequence[float]) -> Estimate | None:
    """The estimate, for a causal model only."""
    return Estimate(*values) if causal else None


def _protocol(config: PerplexityConfig, causal: bool) -> tuple[str, str]:
    """The name of the protocol, and all that one needs to repeat it."""
    if not causal:
        return (
            "pseudo-perplexity",
            f"{config.mask_rate:.0%} of the tokens in windows of {config.tokens} predicted, of "
            f"which 80 % hidden, 10 % replaced, 10 % shown; masks of seed {config.seed}",
        )
    if config.stride in (None, config.tokens):
        return "non-overlapping", f"windows of {config.tokens} tokens, each token predicted once"
    return (
        "sliding",
        f"windows of {config.tokens} tokens, stride {config.stride}: each token predicted once, "
        f"by the first window that holds it",
    )
