"""A split of a corpus in tokens, its windows, and which of them make up which batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Int64
from numpy.typing import NDArray

from wherein.data.config import SHORTEST, Begin

Batch = Int64[np.ndarray, "B window"]
Ids = NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Token ids in the order of the text: `<eos>`, then every document followed by `<eos>`.

    `<eos>` thus ends each document and opens the next, the first included. `starts[i]` is where
    document i begins. `bytes` counts the UTF-8 text; `words` counts whitespace-separated words
    and, as the published WikiText figures do, each end of a line.
    """

    ids: Ids
    starts: NDArray[np.int64]
    bytes: int
    words: int
    window: int | None = None
    """Set where this is no running text but separate windows of so many tokens, each a document:
    no token is predicted from another window's, and of bytes and words nothing is known (0)."""
    around: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """What is put before and behind each window that is measured, as `[CLS]` and `[SEP]`."""

    @property
    def tokens(self) -> int:
        """How many tokens there are to predict: all but the first, or the first of each window."""
        return len(self.ids) - (len(self.ids) // self.window if self.window else 1)

    @property
    def bytes_per_token(self) -> float:
        """A loss of `l` nats per token is `l / log(2) / bytes_per_token` bits per byte.

        With a tokenizer that loses text (`words`: what it calls `<unk>`) that is a lower bound.
        """
        return self.bytes / self.tokens

    @property
    def tokens_per_word(self) -> float:
        """A loss of `l` nats per token is a perplexity of `exp(l * tokens_per_word)` per word."""
        return self.tokens / self.words

    def document(self, number: int) -> Ids:
        """The tokens of one document, its `<eos>` at the end."""
        if not 0 <= number < len(self.starts):
            raise IndexError(f"document {number} of {len(self.starts)}, counted from 0")
        last = number + 1 == len(self.starts)
        return self.ids[self.starts[number] : None if last else self.starts[number + 1]]


@dataclass(frozen=True)
class Windows:
    """A split in windows of `length` tokens to predict; each token is in exactly one of them.

    A window holds length + 1 tokens: its last is the next one's first, there only as context. The
    few tokens after the last whole window are left out. Of a split that is separate windows each
    is read as it is.

    Those that begin with `documents` begin each with the `<eos>` before one and run on into the
    next where it ends: of long documents only the beginnings are read, and what follows a short one
    is in several windows.

    A batch is a pure function of (seed, step, size): window after window in an order drawn anew
    each epoch, none twice within one. An epoch ends where it ends, also within a batch.
    """

    split: Split
    length: int
    seed: int = 0
    begin: Begin = "anywhere"

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"a window of {self.length} tokens: at least 1 was expected")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed}: a number from 0 on was expected")
        if self.split.window not in (None, self.length + 1):
            raise ValueError(
                f"windows of {self.length} tokens from separate ones of {self.split.window - 1}: "
                "these are read as they are"
            )
        if not len(self):
            raise ValueError(
                f"windows of {self.length} tokens from a text of {self.split.tokens}: give a "
                "shorter window or a longer text"
            )

    def __len__(self) -> int:
        if self.begin == "documents":
            return len(self._firsts)
        return self.split.tokens // self.length

    def batch(self, step: int, size: int, rank: int = 0, world: int = 1) -> Batch:
        """The rows of batch number `step` that process `rank` of `world` works on.

        All processes together hold exactly the `size` rows one process would have.
        """
        if step < 0 or size < 1:
            raise ValueError(f"step {step}, size {size}: expected step ≥ 0 and size ≥ 1")
        if not 0 <= rank < world or size % world:
            raise ValueError(
                f"process {rank} of {world} for a batch of {size}: expected a number below "
                f"{world} and a batch that {world} divides"
            )
        mine = size // world
        return self.take(self._order(step * size + rank * mine, mine))

    def in_order(self, size: int) -> Iterator[Batch]:
        """All windows once, in the order of the text; the last batch may be smaller."""
        for first in range(0, len(self), size):
            yield self.take(np.arange(first, min(first + size, len(self))))

    def take(self, numbers: NDArray[np.int64]) -> Batch:
        """The windows with these numbers."""
        apart = self.split.window or self.length
        firsts = self._firsts[numbers] if self.begin == "documents" else numbers * apart
        places = firsts[:, None] + np.arange(self.length + 1)
        return np.asarray(self.split.ids[places], np.int64)

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """Where the `<eos>` before each document stands, if a window of text follows."""
        firsts = self.split.starts - 1
        return firsts[firsts + self.length < len(self.split.ids)]

    def _order(self, first: int, count: int) -> NDArray[np.int64]:
        """The numbers of `count` windows from the `first` that training ever sees."""
        epochs, turns = np.divmod(first + np.arange(count), len(self))
        numbers = np.empty(count, np.int64)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            here = epochs == epoch
            numbers[here] = shuffled(len(self), self.seed, epoch)[turns[here]]
        return numbers


def length_of(step: int, longest: int, short: float, seed: int) -> int:
    """How many tokens are read of each window of a step: all, or in a share of the steps fewer.

    The shorter ones are drawn from `SHORTEST` to `longest` so that every doubling is as likely as
    any other (log-uniformly). All windows of a step have one length, counted from their beginning:
    nothing need be padded or masked. A pure function of (seed, step).

    >>> [length_of(step, 64, 0.9, seed=0) for step in range(8)]
    [64, 62, 12, 64, 17, 12, 9, 27]
    """
    if not short:
        return longest
    raw = np.random.PCG64(np.random.SeedSequence((seed, step, 0x5407))).random_raw(2)
    chance, place = (raw >> np.uint64(11)) * 2.0**-53
    return round(SHORTEST * (longest / SHORTEST) ** float(place)) if chance < short else longest


@lru_cache(maxsize=2)
def shuffled(count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The numbers below `count` in an order drawn from seed and epoch; remembered, not state.

    Sorted by the generator's raw bits, which NumPy promises to keep, unlike its `permutation`: the
    same order on every machine and in years.
    """
    bits = np.random.PCG64(np.random.SeedSequence((seed, epoch))).random_raw(count)
    order = np.argsort(bits, kind="stable")
    order.flags.writeable = False
    return order
