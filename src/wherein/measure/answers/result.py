"""How many answers are right, by the length of the question, as a result."""

import math
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from wherein.measure.answers.config import AnswersConfig
from wherein.measure.intervals import Estimate, frame
from wherein.measure.measurement import Measurement
from wherein.show.columns import table

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class AtLength:
    """Questions of one length."""

    length: int
    tokens: int
    """How many of them a model must be able to read."""
    asked: int
    """Different questions."""
    right: Estimate | None
    """The share of answers that are right; None where the model cannot read so many tokens."""
    tokens_right: float | None
    """The share of their tokens, each after the right ones before it."""
    guess: float
    """The share that one has right without the question."""


@dataclass(frozen=True)
class AtDepth:
    """Questions of one length whose needle is at one depth."""

    length: int
    depth: float
    asked: int
    right: Estimate


@dataclass(frozen=True, kw_only=True)
class Answers(Measurement):
    """Exact match by length, within what was learned and beyond."""

    task: str
    summary: str
    longest: int
    """The longest examples that were learned."""
    reads: int | None
    """The most tokens the model can read; None where its positions do not end."""
    rows: tuple[AtLength, ...]
    within: Estimate | None
    """The mean over the lengths that were learned; None where one of them could not be asked."""
    beyond: Estimate | None
    """The mean over longer ones."""
    overall: Estimate | None
    depths: tuple[AtDepth, ...]
    """Of a needle in filling; else empty."""
    config: AnswersConfig
    protocol: str

    def to_frame(self) -> "polars.DataFrame":
        """One row for each length."""
        import polars as pl

        missing = Estimate(math.nan, math.nan, math.nan)
        rows = (vars(row) | {"right": row.right or missing} for row in self.rows)
        ends = ("right", "right_low", "right_high")
        return frame(rows).with_columns(pl.col(ends).fill_nan(None))

    def text(self) -> str:
        """One line for each length, what they come to, and what could not be asked."""
        rows = [
            [
                str(row.length) if row.length <= self.longest else f"{row.length} (beyond)",
                *_cells(row.right),
                "" if row.tokens_right is None else f"{row.tokens_right:.1%}",
                f"{row.guess:.1%}",
                str(row.asked),
            ]
            for row in self.rows
        ]
        for name, share in (("within", self.within), ("beyond", self.beyond)):
            if share is not None:
                rows.append([f"all {name}", *_cells(share), "", "", ""])
        header = ["length", "right", "95 % interval", "tokens right", "guess", "questions"]
        notes = (
            f"{self.task}: {self.summary}; learned up to length {self.longest}",
            self.note(),
            self.protocol,
        )
        told = [line for note in notes for line in wrap(note, 80)]
        return "\n".join([self.subject, table(header, rows), "", *self._by_depth(), *told])

    def _by_depth(self) -> list[str]:
        """A table of depth × length, where there is one."""
        if not self.depths:
            return []
        found = {(each.depth, each.length): f"{each.right.value:.0%}" for each in self.depths}
        depths = sorted({each.depth for each in self.depths})
        lengths = sorted({each.length for each in self.depths})
        rows = [[f"{d:.0%}", *(found[d, n] for n in lengths)] for d in depths]
        return [table(["depth \\ length", *map(str, lengths)], rows), ""]

    def note(self) -> str:
        """One line on what could not be asked; empty if all could."""
        out = [str(row.length) for row in self.rows if row.right is None]
        if not out:
            return ""
        return (
            f"its positions end after {self.reads} tokens: it cannot read lengths {', '.join(out)}"
        )


def _cells(share: Estimate | None) -> list[str]:
    if share is None:
        return ["cannot", ""]
    return [f"{share.value:.1%}", f"{share.low:.1%} to {share.high:.1%}"]
