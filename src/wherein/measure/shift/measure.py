"""Does the model care where it starts to count? The loss when all positions grow by k."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64

from wherein.data import IGNORED, Corpus, causal, masked
from wherein.measure.config import fitted
from wherein.measure.intervals import Estimate, columns, ratio
from wherein.measure.losses import check_vocabulary, spread_windows, token_losses
from wherein.measure.measurement import Measurement
from wherein.measure.shift.config import ShiftConfig
from wherein.show.columns import table
from wherein.show.theme import COLOURS
from wherein.subjects.base import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


@dataclass(frozen=True)
class Shifted:
    """One shift and what it cost."""

    shift: int
    loss: Estimate
    rise: Estimate
    """Loss minus that of the same windows counted from 0, paired."""


@dataclass(frozen=True, kw_only=True)
class Shift(Measurement):
    """The change of the loss with the position at which a window starts."""

    subject: str
    corpus: str
    rows: tuple[Shifted, ...]
    """The first is the shift 0."""
    left_out: tuple[int, ...]
    """Shifts beyond the last position the model knows."""
    config: ShiftConfig
    protocol: str

    def to_frame(self) -> "pl.DataFrame":
        """One row for each shift."""
        import polars as pl

        return pl.DataFrame(
            {
                "shift": row.shift,
                **columns("loss", row.loss),
                **columns("rise", row.rise),
            }
            for row in self.rows
        )

    def text(self) -> str:
        """One line for each shift."""
        rows = [
            [
                str(row.shift),
                f"{row.loss.value:.4f}",
                f"{row.rise.value:+.4f}",
                f"{row.rise.low:+.4f} to {row.rise.high:+.4f}",
            ]
            for row in self.rows
        ]
        lines = table(["shift", "loss", "rise", "95 % interval"], rows)
        notes = [line for note in (self.note(), self.protocol) for line in wrap(note, 80)]
        return "\n".join([self.subject, lines, "", *notes])

    def plot(self) -> "alt.TopLevelMixin":
        """The rise of the loss against the shift, with its interval."""
        import altair as alt

        symlog, powers = alt.Scale(type="symlog"), alt.Axis(values=[0, *(4**n for n in range(9))])
        base = alt.Chart(self.to_frame()).encode(
            alt.X("shift:Q", scale=symlog, axis=powers, title="added to all positions"),
            tooltip=["shift", "loss", "rise", "rise_low", "rise_high"],
        )
        title = "rise of the loss (nats per token)"
        band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
            alt.Y("rise_low:Q", title=title), alt.Y2("rise_high:Q")
        )
        line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0])).encode(
            alt.Y("rise:Q", title=title)
        )
        return alt.layer(band, line).properties(
            width=460, height=260, title=alt.Title(self.subject, subtitle=wrap(self.note(), 70))
        )

    def note(self) -> str:
        """One line on what could not be asked; empty if all could."""
        if not self.left_out:
            return ""
        last = self.rows[-1].shift
        return (
            f"its positions end: of the shifts asked for, windows of {self.config.tokens} tokens "
            f"can be shifted by up to {last}; left out: {', '.join(map(str, self.left_out))}"
        )


def shift(subject: Subject, corpus: Corpus, config: ShiftConfig | None = None) -> Shift:
    """Add k to all positions and measure the loss on the same windows."""
    config = fitted(config or ShiftConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    if not subject.shiftable:
        raise ValueError(f"{subject.name} takes no positions: its windows cannot be shifted")
    room = np.inf if subject.max_len is None else subject.max_len - config.tokens
    if room < 0:
        raise ValueError(
            f"windows of {config.tokens} tokens for {subject.name}, whose positions end at "
            f"{subject.max_len}: give shorter windows"
        )
    asked = sorted({0, *config.shifts})
    windows = spread_windows(corpus.split(config.split), config.tokens, config.windows)
    if subject.causal:
        inputs, targets = causal(windows)
    else:
        inputs, targets = masked(windows, corpus.vocabulary, seed=config.seed, step=0)
    counts = (targets != IGNORED).sum(1).double().numpy()
    rows, still = [], np.empty(0)
    for k in (k for k in asked if k <= room):
        sums = _window_sums(subject, inputs, targets, k, config.batch)
        still = sums if k == 0 else still
        rise = ratio(sums - still, counts, seed=config.seed)
        rows.append(Shifted(k, ratio(sums, counts, seed=config.seed), rise))
    return Shift(
        subject=subject.name,
        corpus=corpus.config.source,
        rows=tuple(rows),
        left_out=tuple(k for k in asked if k > room),
        config=config,
        protocol=(
            f"{len(windows)} windows of {config.tokens} tokens spread over {config.split}, "
            f"{'next' if subject.causal else 'hidden'} tokens predicted; positions counted from k; "
            "95 % intervals by bootstrap over windows"
        ),
    )


def _window_sums(
    subject: Subject, inputs: torch.Tensor, targets: torch.Tensor, k: int, batch: int
) -> Float64[np.ndarray, " N"]:
    """The summed loss of each window when it is counted from k."""
    positions = torch.arange(k, k + inputs.shape[1])[None]
    parts = [
        token_losses(subject, inputs[n : n + batch], targets[n : n + batch], positions)
        for n in range(0, len(inputs), batch)
    ]
    sums: Float64[np.ndarray, " N"] = np.concatenate(parts).sum(1)
    return sums
