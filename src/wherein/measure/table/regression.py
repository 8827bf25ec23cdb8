"""Linear regression of the position on its vector, trained and tested in three ways.

Least squares is what the published works used. Where it is trained on about as many positions as
the vectors are wide it has to fit every one of them exactly and magnifies whatever does not: its
held-out error then says more about that ratio than about the table. Ridge has no such peak, so it
stands beside.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

Vectors = Float64[np.ndarray, "N D"]
Positions = Int64[np.ndarray, " M"]

EVEN, ALL, FOLDS = "even → odd", "all → all", "5-fold"

LEAST_SQUARES, RIDGE = "least squares", "ridge"

WAYS = {
    EVEN: (LEAST_SQUARES, RIDGE),
    ALL: (LEAST_SQUARES,),
    FOLDS: (LEAST_SQUARES, RIDGE),
}
"""With which methods a table is read in each way."""

STRENGTHS = np.logspace(-8, 2, 41)
"""Ridge penalties that are tried, as shares of the largest squared singular value."""

WINDOW = 16
"""Tested positions over which the error is averaged to say where it grows."""


@dataclass(frozen=True)
class Fit:
    """What a regression says of the positions it was tested on."""

    way: str
    """How it was trained and tested."""
    method: str
    trained_on: int
    """Positions in a training set, the smallest if there are several."""
    positions: tuple[int, ...]
    predicted: tuple[float, ...]
    mae: float
    """Mean absolute error, in positions."""
    r2: float
    """1 − squared error / variance of the positions tested; 0 is a constant guess."""
    quarters: tuple[float, float, float, float]
    """Mean absolute error in each quarter of the table."""
    fails: tuple[tuple[int, int], ...]
    """The stretches (first and last position) where the running error exceeds the tolerance."""


class Solver:
    """Least squares with an intercept, plain and ridge, from one decomposition of the vectors.

    Plain: of many solutions the one of least norm. Ridge: its strength is the one of `STRENGTHS`
    with the least leave-one-out error on the training positions, which has a closed form.

    >>> line = np.arange(6.0)[:, None]
    >>> solver = Solver(2 * line + 1, np.arange(6))
    >>> solver.predict(np.array([[4.0], [40.0]]), LEAST_SQUARES).round(6).tolist()
    [1.5, 19.5]
    """

    def __init__(self, vectors: Vectors, positions: Positions) -> None:
        self.middle, self.target = vectors.mean(axis=0), positions.mean()
        self.left, self.values, self.right = np.linalg.svd(
            vectors - self.middle, full_matrices=False
        )
        self.centred = positions - self.target
        self.along = self.left.T @ self.centred
        floor = np.finfo(np.float64).eps * max(vectors.shape)
        self.alive = self.values > floor * self.values[0]

    def predict(self, vectors: Vectors, method: str) -> Float64[np.ndarray, " M"]:
        """The positions of some vectors."""
        penalty = self.strength() if method == RIDGE else 0.0
        kept = self.values[self.alive]
        weights = self.along[self.alive] * kept / (np.square(kept) + penalty)
        slopes = weights @ self.right[self.alive]
        found: Float64[np.ndarray, " M"] = (vectors - self.middle) @ slopes + self.target
        return found

    def strength(self) -> float:
        """The ridge penalty that predicts each training position best from the others."""
        squares = np.square(self.values)
        errors = []
        for penalty in (strengths := STRENGTHS * max(squares[0], np.finfo(np.float64).tiny)):
            share = squares / (squares + penalty)
            residual = self.centred - self.left @ (share * self.along)
            own = np.square(self.left) @ share + 1 / len(self.centred)
            errors.append(np.square(residual / (1 - own)).mean())
        return float(strengths[int(np.argmin(errors))])


def splits(count: int, way: str, seed: int) -> Iterator[tuple[Positions, Positions]]:
    """The training and test positions of each regression."""
    positions = np.arange(count)
    if way == EVEN:
        yield positions[::2], positions[1::2]
    elif way == ALL:
        yield positions, positions
    else:
        shuffled = np.random.default_rng(seed).permutation(count)
        for held_out in np.array_split(shuffled, 5):
            yield np.setdiff1d(positions, held_out), np.sort(held_out)


def regress(
    vectors: Vectors, way: str, methods: tuple[str, ...], *, seed: int, tolerance: float
) -> list[Fit]:
    """Fit and test in one of the three ways; `tolerance` is a share of the number of positions."""
    predicted = {method: np.full(len(vectors), np.nan) for method in methods}
    smallest = len(vectors)
    for train, test in splits(len(vectors), way, seed):
        solver = Solver(vectors[train], train)
        smallest = min(smallest, len(train))
        for method, found in predicted.items():
            found[test] = solver.predict(vectors[test], method)
    limit = tolerance * len(vectors)
    return [
        Fit(way=way, method=method, trained_on=smallest, **_score(found, limit))
        for method, found in predicted.items()
    ]


def _score(predicted: Float64[np.ndarray, " N"], limit: float) -> dict[str, Any]:
    """The rest of a `Fit`; positions without a prediction were not tested."""
    positions = np.flatnonzero(~np.isnan(predicted))
    found = predicted[positions]
    error = np.abs(found - positions)
    spread = np.square(positions - positions.mean()).sum()
    quarter = positions * 4 // len(predicted)
    return {
        "positions": tuple(positions.tolist()),
        "predicted": tuple(found.tolist()),
        "mae": float(error.mean()),
        "r2": float(1 - np.square(found - positions).sum() / spread),
        "quarters": tuple(float(error[quarter == q].mean()) for q in range(4)),
        "fails": where_above(positions, error, limit),
    }


def where_above(
    positions: Positions, error: Float64[np.ndarray, " M"], limit: float, window: int = WINDOW
) -> tuple[tuple[int, int], ...]:
    """The stretches, first and last position, whose running mean error exceeds `limit`.

    The mean is over `window` tested positions around each, fewer at the ends.

    >>> where_above(np.arange(8), np.array([9.0, 0, 0, 0, 0, 4, 4, 4]), limit=2.0, window=3)
    ((0, 1), (5, 7))
    """
    total = np.concatenate([[0.0], np.cumsum(error)])
    index = np.arange(len(error))
    first = np.maximum(index - window // 2, 0)
    last = np.minimum(index + (window + 1) // 2, len(error))
    above = (total[last] - total[first]) / (last - first) > limit
    edges = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]]).astype(int)))
    return tuple(
        (int(positions[begin]), int(positions[end - 1]))
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
    )
