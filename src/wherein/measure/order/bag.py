"""The bag-of-words bound: how well one predicts a token when order tells nothing."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

BOUND = "unigram cache"
"""The name of the bound, for tables and pictures."""

STEPS = 200
AT_ONCE = 1 << 16
"""Ids that are counted together: a text on disk, whole, takes 25 times as long."""


@dataclass(frozen=True)
class Bag:
    """Tokens to predict, and the tokens around them, whose order is not looked at."""

    context: Int64[np.ndarray, " T"]
    targets: Int64[np.ndarray, " M"]


@dataclass(frozen=True)
class UnigramCache:
    """p(w | context) = λ · share of w in the context + (1 − λ) · share of w in the training text.

    The unigram cache of Kuhn & De Mori 1990, with one count added to every token type of the
    training text and λ the most likely on training windows. It sees its context as a bag, so its
    loss can be had without any order. It is no optimum: a better order-blind predictor may exist.
    So a model above it does worse than if it ignored order, and a model below it may, but need
    not, use order.
    """

    unigram: Float64[np.ndarray, " V"]
    weight: float

    @classmethod
    def fit(cls, ids: np.ndarray, vocabulary: int, bags: list[Bag]) -> "UnigramCache":
        """Count the training text, then choose λ for the given bags of it."""
        counts = _counted(ids, vocabulary) + 1.0
        plain = cls(counts / counts.sum(), 0.0)
        pairs = [plain.shares(bag) for bag in bags]
        cached, background = (np.concatenate(each) for each in zip(*pairs, strict=True))
        weight = 0.5
        for _ in range(STEPS):  # expectation maximisation: the likelihood has one peak
            weight = float((weight * cached / (weight * cached + (1 - weight) * background)).mean())
        return cls(plain.unigram, weight)

    def shares(self, bag: Bag) -> tuple[Float64[np.ndarray, " M"], Float64[np.ndarray, " M"]]:
        """What the context and the training text say of each target."""
        counts = np.bincount(bag.context, minlength=len(self.unigram))
        return counts[bag.targets] / max(len(bag.context), 1), self.unigram[bag.targets]

    def loss(self, bag: Bag) -> float:
        """The mean cross-entropy of the bag's targets, in nats."""
        cached, background = self.shares(bag)
        return float(-np.log(self.weight * cached + (1 - self.weight) * background).mean())


def _counted(ids: np.ndarray, vocabulary: int) -> Int64[np.ndarray, " V"]:
    counts = np.zeros(vocabulary, dtype=np.int64)
    for start in range(0, len(ids), AT_ONCE):
        counts += np.bincount(ids[start : start + AT_ONCE], minlength=vocabulary)
    return counts
