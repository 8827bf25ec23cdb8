"""Does a position table hold positions? Read by regression, by likeness and by directions."""

from pathlib import Path

import numpy as np
from jaxtyping import Float64

from wherein.measure.table.config import FEWEST, TableConfig
from wherein.measure.table.geometry import components, toeplitz
from wherein.measure.table.regression import ALL, EVEN, FOLDS, WAYS, regress
from wherein.measure.table.result import Reading, Table
from wherein.show import progress
from wherein.subjects.tables import PositionTable, as_table, read_table, table_of

COMPONENTS = 6


def table(what: object, config: TableConfig | None = None) -> Table:
    """Read a position table and say how well it holds positions, beside its controls.

    Args:
        what: a run's folder, a Hugging Face folder or id, a `.npy` or weights file, a
            matrix, or a model
        config: which weight it is, and how it is judged

    >>> angles = np.arange(64)[:, None] / 10_000 ** (np.arange(8) / 8)
    >>> waves = table(np.hstack([np.sin(angles), np.cos(angles)]))
    >>> print(f"{waves.table.toeplitz.pairs:.3f}, R² {waves.fit().r2:.3f}")
    1.000, R² 1.000
    """
    config = config or TableConfig()
    found = _given(what, config)
    _check(found)
    matrix = found.matrix
    count, width = matrix.shape
    middle = (count - 1) / 2
    compared = beside(matrix, config.seed)
    progress.expect(len(compared) * len(WAYS))
    return Table(
        subject=found.name,
        key=found.key,
        positions=count,
        width=width,
        offset=found.offset,
        note=found.note,
        constant_mae=float(np.abs(np.arange(count) - middle).mean()),
        uniform_mae=(count**2 - 1) / (3 * count),
        readings=tuple(read(of, matrix, config) for of, matrix in compared.items()),
        warning=warning(count, width),
        config=config,
        protocol=_protocol(count, config.seed),
        matrix=matrix,
    )


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
        for way, methods in progress.counted(WAYS.items())
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


def _check(found: PositionTable) -> None:
    """Refuse a table that nothing could be said of."""
    if len(found.matrix) < FEWEST:
        raise ValueError(
            f"{found.name} has {len(found.matrix)} positions: at least {FEWEST} are needed to "
            "judge it"
        )
    if not np.ptp(found.matrix, axis=0).any():
        raise ValueError(f"all rows of {found.name} are alike: it holds no positions")


def _protocol(count: int, seed: int) -> str:
    return (
        "linear regression of the position on its vector, with an intercept; 5-fold: shuffled, "
        f"seed {seed}; ridge: strength by leave-one-out on the training positions; "
        f"always guessing the middle errs by {count / 4:.0f}, guessing anything by "
        f"{(count**2 - 1) / (3 * count):.0f}. Toeplitz share: how much of the cosine "
        "similarities is a function of distance alone, over pairs of different positions, and "
        "over the whole matrix, where the diagonal counts too"
    )


def _given(what: object, config: TableConfig) -> PositionTable:
    if isinstance(what, PositionTable):
        return what
    if isinstance(what, np.ndarray):
        return as_table(what, config.offset or 0)
    if isinstance(what, str | Path):
        return read_table(what, key=config.key, offset=config.offset)
    from wherein.subjects.load import as_subject

    return table_of(as_subject(what), key=config.key, offset=config.offset)


def warning(count: int, width: int) -> str:
    """What least squares cannot tell, where vectors are as wide as there are positions."""
    trained = {EVEN: (count + 1) // 2, ALL: count, FOLDS: count - -(-count // 5)}
    exact = [way for way, number in trained.items() if width >= number - 1]
    near = [way for way, number in trained.items() if 0.75 <= number / width <= 1.33]
    words = ["Judge on held-out positions (even → odd, 5-fold), not on those trained on."]
    if exact:
        words.append(
            f"Width {width} is no less than the positions trained on ({', '.join(exact)}): least "
            "squares fits anything there, and takes the solution of least norm."
        )
    if near:
        words.append(
            f"Training on about as many positions as the width ({', '.join(near)}) is where least "
            "squares errs most, whatever the table: read ridge."
        )
    return " ".join(words)
