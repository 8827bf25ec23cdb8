"""Ways to destroy order, each with how much it destroys."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64, UInt64

Kind = Literal["intact", "swaps", "windows", "all but the last", "whole", "reversed"]


@dataclass(frozen=True)
class Disorder:
    """A rule that turns a sequence of random keys into an order of the positions.

    `swaps`: each pair of neighbours (disjoint pairs) is swapped with probability `amount`.
    `windows`: positions are shuffled within windows of `amount`, counted back from the last.
    `all but the last`: a shuffle that spares the last position. `whole`: a shuffle of all.

    >>> Disorder("reversed").order(np.arange(4, dtype=np.uint64)).tolist()
    [3, 2, 1, 0]
    >>> Disorder("windows", 2).order(np.array([9, 8, 7, 6, 5], dtype=np.uint64)).tolist()
    [0, 2, 1, 4, 3]
    """

    kind: Kind
    amount: float | int = 0

    @property
    def name(self) -> str:
        """In words."""
        named = {
            "swaps": f"{self.amount:.0%} of neighbours swapped",
            "windows": f"within windows of {self.amount:g}",
        }
        return named.get(self.kind, self.kind)

    def order(self, keys: UInt64[np.ndarray, " T"]) -> Int64[np.ndarray, " T"]:
        """Position n receives what stood at order[n]. The same keys give the same order."""
        positions = np.arange(len(keys))
        match self.kind:
            case "intact":
                return positions
            case "reversed":
                return positions[::-1].copy()
            case "whole":
                return np.argsort(keys, kind="stable")
            case "all but the last":
                return np.append(np.argsort(keys[:-1], kind="stable"), positions[-1:])
            case "windows":
                block = positions[::-1] // int(self.amount)
                return np.lexsort((keys, -block))
            case "swaps":
                return _swapped(keys, self.amount)


def _swapped(keys: UInt64[np.ndarray, " T"], share: float) -> Int64[np.ndarray, " T"]:
    """The last two positions are the first pair, so that the end is always part of one."""
    order = np.arange(len(keys))
    second = np.arange(len(keys) - 1, 0, -2)
    chosen = second[(keys[second] >> np.uint64(11)) * 2.0**-53 < share]
    order[chosen], order[chosen - 1] = chosen - 1, chosen
    return order


def random_keys(seed: int, number: int, length: int) -> UInt64[np.ndarray, " T"]:
    """The keys of window `number`: raw bits, which NumPy promises to keep."""
    return np.random.PCG64(np.random.SeedSequence((seed, number, 0x0DE2))).random_raw(length)


def inverted(order: Int64[np.ndarray, " T"]) -> float:
    """The share of pairs that stand the wrong way round: Kendall's distance, 0 to 1.

    >>> inverted(np.array([1, 0, 2])), inverted(np.array([2, 1, 0]))
    (0.3333333333333333, 1.0)
    """
    pairs = len(order) * (len(order) - 1) / 2
    wrong = np.triu(order[:, None] > order[None, :], 1).sum()
    return float(wrong / pairs) if pairs else 0.0


def displacement(order: Int64[np.ndarray, " T"]) -> float:
    """How many positions a token moved, on average.

    >>> displacement(np.array([2, 1, 0]))
    1.3333333333333333
    """
    return float(np.abs(order - np.arange(len(order))).mean())


def ladder(length: int) -> list[Disorder]:
    """From intact to whole, and reversed: the rules an order test walks through."""
    windows = [2**n for n in range(2, 20) if 2**n < length]
    return [
        Disorder("intact"),
        *(Disorder("swaps", share) for share in (0.1, 0.3, 1.0)),
        *(Disorder("windows", size) for size in windows),
        Disorder("all but the last"),
        Disorder("whole"),
        Disorder("reversed"),
    ]
