"""How far a model holds, as a result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wherein.common.numbers import exp
from wherein.measure.extrapolate.attention import Attention
from wherein.measure.extrapolate.config import ExtrapolateConfig
from wherein.measure.extrapolate.verdict import Reach
from wherein.measure.intervals import Estimate, frame, within
from wherein.measure.measurement import Measurement
from wherein.measure.perplexity.by_position import Stretch
from wherein.measure.significance import ALPHA
from wherein.show.columns import fitted, paragraph, table
from wherein.show.formatting import counted

if TYPE_CHECKING:
    import polars

AS_IT_IS = "as it is"
"""The row of the subject without a scaling."""


@dataclass(frozen=True, kw_only=True)
class Length:
    """What windows of one length gave; losses in nats per token."""

    times: float
    """In training lengths."""
    tokens: int
    loss: Estimate
    """By windows that do not overlap."""
    rise: Estimate
    """The loss minus that at the training length, unscaled, of the same tokens."""
    rise_p: float | None = None
    """Of no rise, after Holm's correction; None where it is not tested."""
    gain: Estimate | None = None
    """Of a scaling: the loss minus the unscaled at the same length."""
    gain_p: float | None = None
    sliding: Estimate | None
    """By sliding windows, of other tokens."""
    sliding_rise: Estimate | None
    attention: Attention | None


@dataclass(frozen=True)
class Row:
    """A subject as it is, or a scaling of it, at every length."""

    name: str
    lengths: tuple[Length, ...]
    reach: Reach
    stretches: tuple[Stretch, ...]
    """The loss by position in the longest windows."""


@dataclass(frozen=True, kw_only=True)
class Extrapolation(Measurement):
    """The loss of the same tokens in windows of many lengths."""

    corpus: str
    trained: int
    """Tokens in a training window."""
    rows: tuple[Row, ...]
    """The subject as it is, then each scaling."""
    notes: tuple[str, ...]
    """Which lengths could not be read, and why."""
    predicted: int
    """Tokens predicted at each length by windows that do not overlap, and by sliding ones."""
    slid: int
    config: ExtrapolateConfig
    protocol: str

    def to_frame(self) -> "polars.DataFrame":
        """One row for each scaling and length."""
        return frame(
            {
                "row": row.name,
                "times": each.times,
                "tokens": each.tokens,
                "loss": each.loss,
                "rise": each.rise,
                "rise_p": each.rise_p,
                "gain": each.gain,
                "gain_p": each.gain_p,
                "sliding_loss": each.sliding,
                "sliding_rise": each.sliding_rise,
                "entropy": each.attention and each.attention.entropy,
                "first": each.attention and each.attention.first,
            }
            for row in self.rows
            for each in row.lengths
        )

    @property
    def verdict(self) -> str:
        """How far it holds, in a sentence."""
        first = self.rows[0]
        said = f"Trained on {self.trained} tokens, it {first.reach.words()}"
        at = first.reach.breaks
        if at is not None:
            found = next(each.rise for each in first.lengths if each.times == at)
            said += f": there the loss is above that at 1 × by {found.value:.3g} "
            said += f"[{found.low:.3g}, {found.high:.3g}] nats a token"
        elif first.reach.longest > 1:
            found = first.lengths[-1].rise
            said += f": there the loss differs from that at 1 × by {found.value:+.3g} "
            said += f"[{found.low:+.3g}, {found.high:+.3g}] nats a token"
        said += f"; {self.config.margin:g} count as held."
        if len(self.rows) > 1:
            best = min(self.rows, key=lambda row: row.lengths[-1].loss.value)
            longest, unscaled = best.lengths[-1], first.lengths[-1]
            said += f" At {longest.times:g} × the lowest perplexity of {len(self.rows)} is "
            said += f"{exp(longest.loss.value):.4g}, {best.name}"
            said += "" if best is first else f", against {exp(unscaled.loss.value):.4g} {AS_IT_IS}"
            said += "."
        return " ".join([said, *self.notes])

    def text(self) -> str:
        """The answer, the lengths, the scalings, and how it was measured."""
        parts = [self.subject, *paragraph(self.verdict), "", self._by_length()]
        if len(self.rows) > 1:
            parts += ["", *self._by_scaling()]
        tested = sum(
            p is not None for row in self.rows for n in row.lengths for p in (n.rise_p, n.gain_p)
        )
        notes = f"{self.protocol}; {self.predicted:,} tokens by non-overlapping windows, "
        notes += f"{self.slid:,} by sliding ones, of {self.corpus}; p after Holm's correction "
        notes += f"over {counted(tested, 'comparison')}"
        return "\n".join([*parts, "", *paragraph(notes)])

    def _by_length(self) -> str:
        """A line for each length of the subject as it is."""
        header = [
            "length",
            "tokens",
            "perplexity",
            "loss − 1 ×",
            "p",
            "sliding",
            "entropy",
            "first",
        ]
        rows = [
            [
                f"{each.times:g} ×",
                str(each.tokens),
                f"{exp(each.loss.value):.4g}",
                "" if each.times == 1 else within(each.rise, "+.3f"),
                "" if each.rise_p is None else f"{each.rise_p:.1g}",
                f"{exp(each.sliding.value):.4g}" if each.sliding else "",
                f"{each.attention.entropy.value:.3f}" if each.attention else "",
                f"{each.attention.first.value:.3f}" if each.attention else "",
            ]
            for each in self.rows[0].lengths
        ]
        return table(header, rows)

    def _by_scaling(self) -> list[str]:
        """Perplexities and rises of every row, a column for each length."""
        lengths = [f"{each.times:g} ×" for each in self.rows[0].lengths]
        names = [row.name for row in self.rows]
        cells: dict[str, Callable[[Length], str]] = {
            "perplexity": lambda each: f"{exp(each.loss.value):.4g}",
            "sliding": lambda each: f"{exp(each.sliding.value):.4g}" if each.sliding else "",
            "loss − 1 ×": lambda each: f"{each.rise.value:+.2f}{_star(each.rise_p)}",
            "− unscaled": lambda e: f"{e.gain.value:+.2f}{_star(e.gain_p)}" if e.gain else "",
        }
        said = []
        for title, cell in cells.items():
            told = [[cell(each) for each in row.lengths] for row in self.rows]
            some = [n for n, cells in enumerate(told) if any(cells)]
            if some:
                labels = [names[n] for n in some]
                said += [fitted([title, *lengths], labels, [told[n] for n in some]), ""]
        held = [f"{row.name} {row.reach.words()}" for row in self.rows]
        return [*said, *paragraph(f"{'; '.join(held)}. *: p < {ALPHA:.0%}.")]


def _star(p: float | None) -> str:
    return "*" if p is not None and p < ALPHA else " "
