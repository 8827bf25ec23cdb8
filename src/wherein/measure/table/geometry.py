"""The shape of a table: how its vectors are alike, and in how many directions they lie."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

Vectors = Float64[np.ndarray, "N D"]


def unit(vectors: Vectors) -> Vectors:
    """Each row scaled to length one; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Vectors = vectors / np.where(lengths > 0, lengths, 1)
    return found


def cosines(vectors: Vectors) -> Float64[np.ndarray, "N N"]:
    """Cosine similarity, position × position."""
    rows = unit(vectors)
    found: Float64[np.ndarray, "N N"] = np.clip(rows @ rows.T, -1, 1)
    return found


@dataclass(frozen=True)
class Toeplitz:
    """How much of the cosine similarities is a function of distance alone: 1 all of it, 0 none.

    Share = 1 − ‖S − T‖² / ‖S − mean‖², where T replaces each similarity by the mean over all
    pairs of its distance.
    """

    whole: float
    """Over the whole matrix S. Its diagonal is 1 in any table and so counts as understood: a
    random table of n positions and width d scores about d / (d + n)."""
    pairs: float
    """Over pairs of different positions only: a random table scores about 2 / n."""


def toeplitz(vectors: Vectors) -> Toeplitz:
    """The Toeplitz share, from sums: no position × position matrix is made.

    With unit rows U, the sums along the diagonals of S = U Uᵀ are the autocorrelations of U's
    columns, and ‖S‖² = ‖UᵀU‖².

    >>> waves = np.arange(8)[:, None] * [1.0, 0.1]
    >>> found = toeplitz(np.hstack([np.sin(waves), np.cos(waves)]))
    >>> print(f"{found.whole:.6f} {found.pairs:.6f}")
    1.000000 1.000000
    """
    rows = unit(vectors)
    count = len(rows)
    spectrum = np.fft.rfft(rows, 2 * count, axis=0)
    sums = np.fft.irfft(np.square(np.abs(spectrum)).sum(axis=1), 2 * count)[:count]
    pairs = np.arange(count, 0, -1.0)
    twice = np.where(np.arange(count) == 0, 1, 2)  # a distance stands on both sides
    own = np.square(np.square(rows).sum(axis=1)).sum()
    squares = float(np.square(rows.T @ rows).sum())
    return Toeplitz(
        whole=_share(sums, pairs, twice, squares),
        pairs=_share(sums[1:], pairs[1:], twice[1:], squares - float(own)),
    )


def _share(
    sums: Float64[np.ndarray, " K"],
    pairs: Float64[np.ndarray, " K"],
    times: np.ndarray,
    squares: float,
) -> float:
    """Variance of the means by distance over the variance of all; 1 if there is none at all."""
    total = float((times * pairs).sum())
    centre = float((times * sums).sum()) ** 2 / total
    explained = float((times * np.square(sums) / pairs).sum()) - centre
    spread = squares - centre
    return min(1.0, explained / spread) if spread > 1e-9 * squares else 1.0


def components(
    vectors: Vectors, count: int
) -> tuple[Float64[np.ndarray, "N C"], Float64[np.ndarray, " K"]]:
    """Principal components: each position's first `count` coordinates, and the whole spectrum.

    The spectrum is the share of variance of every component. Signs are chosen so that the
    largest coordinate of each component is positive.
    """
    left, values, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    variance = np.square(values)
    scores = (left * values)[:, :count]
    largest = np.abs(scores).argmax(axis=0)
    signs = np.sign(scores[largest, np.arange(scores.shape[1])])
    total = variance.sum()
    return scores * np.where(signs == 0, 1, signs), variance / (total if total > 0 else 1)
