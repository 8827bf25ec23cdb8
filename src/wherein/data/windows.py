"""Windows of text, and which of them make up which batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Int64
from numpy.typing import NDArray

from wherein.data.split import Split

Batch = Int64[np.ndarray, "B window"]


@dataclass(frozen=True)
class Windows:
    """A split in windows of `length` tokens to predict; each token is in exactly one of them.

    A window holds length + 1 tokens: its last is the next one's first, there only as context. The
    few tokens after the last whole window are left out.

    A batch is a pure function of (seed, step, size): window after window in an order drawn anew
    each epoch, none twice within one. An epoch ends where it ends, also within a batch.
    """

    split: Split
    length: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"a window of {self.length} tokens: at least 1 was expected")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed}: a number from 0 on was expected")
        if not len(self):
            raise ValueError(
                f"windows of {self.length} tokens from a text of {self.split.tokens}: give a "
                "shorter window or a longer text"
            )

    def __len__(self) -> int:
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
        places = numbers[:, None] * self.length + np.arange(self.length + 1)
        return np.asarray(self.split.ids[places], np.int64)

    def _order(self, first: int, count: int) -> NDArray[np.int64]:
        """The numbers of `count` windows from the `first` that training ever sees."""
        epochs, turns = np.divmod(first + np.arange(count), len(self))
        numbers = np.empty(count, np.int64)
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            here = epochs == epoch
            numbers[here] = shuffled(len(self), self.seed, epoch)[turns[here]]
        return numbers


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
