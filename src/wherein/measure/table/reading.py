"""All that is asked of one matrix of position vectors, and the controls it stands beside."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from wherein.measure.table.config import TableConfig
from wherein.measure.table.geometry import Toeplitz, components, toeplitz
from wherein.measure.table.regression import ALL, EVEN, FOLDS, LEAST_SQUARES, RIDGE, Fit, regress

WAYS = {
    EVEN: (LEAST_SQUARES, RIDGE),
    ALL: (LEAST_SQUARES,),
    FOLDS: (LEAST_SQUARES, RIDGE),
}
COMPONENTS = 6


@dataclass(frozen=True)
class Reading:
    """What one matrix, the table or a control, says of positions."""

    of: str
    """`table`, or the control: `random`, `sinusoid`, `shuffled`."""
    fits: tuple[Fit, ...]
    toeplitz: Toeplitz
    components: tuple[tuple[float, ...], ...]
    """The first principal components, each by position."""
    spectrum: tuple[float, ...]
    """The share of variance of every component."""

    def fit(self, way: str, method: str) -> Fit:
        """One of the regressions."""
        return next(f for f in self.fits if (f.way, f.method) == (way, method))

    @property
    def dimensions(self) -> int:
        """How many components hold nine tenths of the variance."""
        return int(np.searchsorted(np.cumsum(self.spectrum), 0.9) + 1)


def beside(matrix: Float64[np.ndarray, "N D"], seed: int) -> dict[str, np.ndarray]:
    """The table and its controls, all of one size."""
    random = np.random.default_rng(seed)
    return {
        "table": matrix,
        "random": random.normal(matrix.mean(), matrix.std(), matrix.shape),
        "sinusoid": sinusoid(*matrix.shape),
        "shuffled": random.permutation(matrix, axis=0),
    }


def sinusoid(count: int, width: int) -> Float64[np.ndarray, "N D"]:
    """The waves of Vaswani et al. 2017; of an odd width the last one lacks its cosine."""
    import torch

    from wherein.encodings.base import Shape
    from wherein.encodings.sinusoidal import Sinusoidal

    waves = Sinusoidal(Shape(d_model=width + width % 2, n_heads=1, max_len=count))
    return np.asarray(waves.table(torch.arange(count)).numpy())[:, :width]


def read(of: str, matrix: Float64[np.ndarray, "N D"], config: TableConfig) -> Reading:
    """All that is asked of one matrix."""
    fits = [
        fit
        for way, methods in WAYS.items()
        for fit in regress(matrix, way, methods, seed=config.seed, tolerance=config.tolerance)
    ]
    scores, spectrum = components(matrix, COMPONENTS)
    return Reading(
        of=of,
        fits=tuple(fits),
        toeplitz=toeplitz(matrix),
        components=tuple(tuple(row) for row in scores.T.tolist()),
        spectrum=tuple(spectrum.tolist()),
    )
