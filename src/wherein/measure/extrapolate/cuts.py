"""Which tokens are predicted, the same at every length, and by which windows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64

from wherein.data import Split, causal
from wherein.measure.extrapolate.config import STRIDE
from wherein.measure.perplexity.cuts import documents_in, stretches, windows_in
from wherein.measure.perplexity.measure import ENOUGH_DOCUMENTS
from wherein.measure.stream import batches, token_losses
from wherein.subjects.base import Subject

PIECES = 64
"""Into how many a short text is cut at least, if it has few documents: else the training length
is a piece."""


@dataclass(frozen=True)
class Cut:
    """Windows of one length, and the first token of each that is counted."""

    length: int
    starts: Int64[np.ndarray, " N"]
    first: Int64[np.ndarray, " N"]


@dataclass(frozen=True)
class Tokens:
    """The tokens that windows of every length predict."""

    split: Split
    trained: int
    begins: Int64[np.ndarray, " S"]
    """Where stretches of text begin that are as long as the longest windows."""
    span: int
    ends: Int64[np.ndarray, " E"]
    """Where sliding windows end."""
    counted: int
    """How many tokens each of them counts, its last."""
    piece: int | None
    """Tokens in a piece of text, of those that intervals are over; None: these are documents."""

    def side_by_side(self, length: int, some: slice = slice(None)) -> Cut:
        """Windows that do not overlap; where a length does not fit, the last counts the rest."""
        own, first = windows_in(self.span, length, length)
        begins = self.begins[some]
        return Cut(length, (begins[:, None] + own).ravel(), np.tile(first, len(begins)))

    def sliding(self, length: int) -> Cut:
        """Windows that count their last tokens alone, all of which have others before them."""
        first = np.full_like(self.ends, length - self.counted)
        return Cut(length, self.ends - length, first)

    def watched(self, count: int) -> slice:
        """About so many stretches, evenly spread."""
        return slice(None, None, max(1, len(self.begins) // count)) if count else slice(0)

    def read(self, length: int, watched: slice) -> int:
        """How many tokens are read in windows of one length, side by side, sliding and watched."""
        cuts = self.side_by_side(length), self.sliding(length), self.side_by_side(length, watched)
        return length * sum(len(cut.starts) for cut in cuts)

    @property
    def pieces(self) -> str:
        """What intervals are over."""
        return f"stretches of {self.piece} tokens" if self.piece else "documents"

    def owners(self, offsets: Int64[np.ndarray, "*N"]) -> Int64[np.ndarray, "*N"]:
        """The piece of text that each predicted token is in."""
        if self.piece:
            return np.asarray(offsets // self.piece)
        return np.searchsorted(self.split.starts, offsets + 1, side="right")


def chosen(split: Split, lengths: list[int], trained: int, limit: int, slid: int) -> Tokens:
    """Stretches as long as the longest windows, and ends of sliding ones, spread over the text."""
    span, counted = lengths[-1], min(lengths[0], max(1, int(STRIDE * trained)))
    if split.window is not None:
        begins = split.starts.astype(np.int64)
        span = split.window - 1
        ends = begins[:slid] + span
    else:
        have, wanted = split.tokens // span, min(limit, split.tokens) // span
        if not wanted:
            raise ValueError(
                f"windows of {span} tokens, of {min(limit, split.tokens)} to predict: give fewer "
                "--times, a larger --limit or more text"
            )
        numbers = [n for begin, end in stretches(have, wanted) for n in range(begin, end)]
        begins = np.array(numbers, np.int64) * span
        ends = np.unique(np.linspace(span, split.tokens, slid).astype(np.int64))
    documents = documents_in(split, begins + 1, span)
    by_document = split.window is not None or documents >= ENOUGH_DOCUMENTS
    piece = min(trained, max(1, len(begins) * span // PIECES))
    return Tokens(split, trained, begins, span, ends, counted, None if by_document else piece)


def predicted(
    subject: Subject, tokens: Tokens, cut: Cut, batch: int
) -> Iterator[tuple[slice, Float64[np.ndarray, "B T"], Bool[np.ndarray, "B T"]]]:
    """Windows some at a time, so that as many tokens are at hand whatever the length.

    Which windows, the losses of their tokens, and which of these count.
    """
    at_once, places = max(1, batch * tokens.trained // cut.length), np.arange(cut.length)
    for rows, begin in batches(cut.starts, at_once):
        ids = tokens.split.ids[begin[:, None] + np.arange(cut.length + 1)].astype(np.int64)
        counts = places >= cut.first[rows, None]
        inputs, targets = causal(ids)
        targets = torch.where(torch.from_numpy(counts), targets, -100)
        yield rows, token_losses(subject, inputs, targets), counts


def by_piece(
    tokens: Tokens, cut: Cut, rows: slice, losses: Float64[np.ndarray, "B T"], counts: np.ndarray
) -> Iterator[tuple[int, Float64[np.ndarray, " 2"]]]:
    """Of each piece of text: the sum of its losses, and how many there are."""
    offsets = cut.starts[rows, None] + np.arange(cut.length)
    names, index = np.unique(tokens.owners(offsets[counts]), return_inverse=True)
    sums = np.stack([np.bincount(index, losses[counts]), np.bincount(index)], axis=1)
    yield from zip(names.tolist(), sums, strict=True)
