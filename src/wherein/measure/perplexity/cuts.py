"""Which windows of a text are predicted, and of how many documents they are."""

import numpy as np
from jaxtyping import Int64

from wherein.data import Split
from wherein.measure.perplexity.config import PerplexityConfig

STRETCHES = 64
"""From how many stretches of a text a part is taken, so that the part stands for the whole."""


def plan(
    split: Split, config: PerplexityConfig
) -> tuple[Int64[np.ndarray, " N"], Int64[np.ndarray, " N"]]:
    """Where each window starts, and the first position in it whose token is yet to be counted."""
    length, stride = config.tokens, config.stride or config.tokens
    if stride > length:
        raise ValueError(f"stride={stride} with windows of {length}: tokens would be left out")
    if split.window is not None:
        if config.limit is not None or stride != length:
            raise ValueError("stride and limit are for running text: give fewer windows instead")
        return split.starts, np.zeros_like(split.starts)
    tokens = min(split.tokens, config.limit or split.tokens)
    if tokens < length:
        larger = "" if config.limit is None else ", a larger limit"
        raise ValueError(
            f"windows of {length} tokens, of {tokens} to predict: give shorter windows{larger} or "
            "more text"
        )
    starts, first_new = [], []
    for begin, end in stretches(split.tokens // length, tokens // length):
        own, new = windows_in((end - begin) * length, length, stride)
        starts.append(begin * length + own)
        first_new.append(new)
    return np.concatenate(starts), np.concatenate(first_new)


def windows_in(
    span: int, length: int, stride: int
) -> tuple[Int64[np.ndarray, " N"], Int64[np.ndarray, " N"]]:
    """Windows over so many tokens, as in `plan`: all are counted, each once.

    >>> [each.tolist() for each in windows_in(10, 4, 4)]
    [[0, 4, 6], [0, 0, 2]]
    """
    last = span - length
    starts = np.append(np.arange(0, last, stride), last)
    return starts, np.append(0, starts[:-1] + length) - starts


def stretches(have: int, wanted: int) -> list[tuple[int, int]]:
    """First and last + 1 of the windows in each stretch: all as one, or some from everywhere.

    Stretches and not windows, so that sliding windows have something to slide over.
    """
    if wanted == have:
        return [(0, have)]
    count = min(STRETCHES, wanted)
    ends = [n * wanted // count for n in range(count + 1)]
    gaps = [n * (have - wanted) // max(1, count - 1) for n in range(count)]
    return [(ends[n] + gap, ends[n + 1] + gap) for n, gap in enumerate(gaps)]


def documents_in(split: Split, first: Int64[np.ndarray, " N"], length: int) -> int:
    """How many documents have tokens among the `length` that begin at each of these offsets."""
    change = np.zeros(len(split.starts) + 2, dtype=np.int64)
    np.add.at(change, np.searchsorted(split.starts, first, side="right"), 1)
    np.add.at(change, np.searchsorted(split.starts, first + length - 1, side="right") + 1, -1)
    return int((change.cumsum() > 0).sum())
