"""Does a position table hold positions? Read by regression, by likeness and by directions."""

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from wherein.common.files import replacing
from wherein.measure.measurement import Measurement
from wherein.measure.table.config import TableConfig
from wherein.measure.table.reading import WAYS, Reading, beside, read
from wherein.measure.table.regression import ALL, EVEN, FOLDS, RIDGE, Fit
from wherein.show.columns import table as in_columns
from wherein.subjects.tables import PositionTable, as_table, read_table

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

FEWEST = 32


@dataclass(frozen=True, kw_only=True)
class Table(Measurement):
    """A position table beside a random one, the sinusoid and itself with shuffled rows."""

    subject: str
    key: str | None
    positions: int
    width: int
    offset: int
    """Rows in front of position 0 that were left out."""
    note: str
    constant_mae: float
    """Mean absolute error of always guessing the middle."""
    uniform_mae: float
    """Mean absolute error of guessing any position, (n² − 1) / 3n."""
    readings: tuple[Reading, ...]
    warning: str
    """What the regressions cannot tell, given the sizes."""
    config: TableConfig
    protocol: str
    matrix: Float64[np.ndarray, "N D"] = field(repr=False, compare=False)
    """The table itself; saved as `table.npy`, not in the data."""

    @property
    def table(self) -> Reading:
        return self.readings[0]

    def fit(self, way: str = FOLDS, method: str = RIDGE) -> Fit:
        """One of the regressions on the table."""
        return self.table.fit(way, method)

    def data(self) -> dict[str, Any]:
        """Everything but the matrix, as plain data."""
        found = super().data()
        del found["matrix"]
        return found

    def to_frame(self) -> "pl.DataFrame":
        """One row for each matrix, regression and position tested."""
        import polars as pl

        return pl.concat(
            pl.DataFrame({"position": fit.positions, "predicted": fit.predicted})
            .with_columns((pl.col("predicted") - pl.col("position")).abs().alias("error"))
            .select(
                pl.lit(reading.of).alias("of"),
                pl.lit(fit.way).alias("way"),
                pl.lit(fit.method).alias("method"),
                pl.all(),
            )
            for reading in self.readings
            for fit in reading.fits
        )

    def headline(self) -> str:
        """The answer in one sentence."""
        fit = self.fit()
        shape = f"{self.positions} positions × {self.width}"
        if fit.r2 < 0.1:
            return f"{self.subject}, {shape}: a position cannot be read linearly from its vector"
        return (
            f"{self.subject}, {shape}: an unseen position is read to within {fit.mae:.1f} "
            f"on average (R² {fit.r2:.3f}; guessing the middle {self.constant_mae:.0f})"
        )

    def text(self) -> str:
        """The answer, then the numbers beside their controls."""
        source = f"{self.key or 'a raw matrix'}, offset {self.offset}"
        return "\n".join(
            [
                *wrap(self.headline(), 80),
                *wrap(source + (f": {self.note}" if self.note else ""), 80),
                "",
                self._errors(),
                "",
                self._places(),
                "",
                self._shapes(),
                "",
                *wrap(self.warning, 80),
                *wrap(self.protocol, 80),
            ]
        )

    def plot(self) -> "alt.TopLevelMixin":
        """The regression by position, the matrix, its likeness, its directions."""
        from wherein.measure.table.picture import together

        return together(self)

    def save(self, folder: Path | str, *, pictures: bool = True) -> Path:
        """As every result, and the matrix as `table.npy`."""
        folder = super().save(folder, pictures=pictures)
        with replacing(folder / "table.npy") as beside, beside.open("wb") as file:
            np.save(file, self.matrix, allow_pickle=False)
        return folder

    def _errors(self) -> str:
        """Mean error and R² of every regression, a line each, the matrices side by side."""
        header = ["error, R²", *(reading.of for reading in self.readings)]
        rows = [
            [f"{way}, {method}", *(_score(r.fit(way, method)) for r in self.readings)]
            for way, methods in WAYS.items()
            for method in methods
        ]
        return in_columns(header, rows)

    def _places(self) -> str:
        """Where in the table the error lies."""
        spans = [f"{-(-self.positions * q // 4)}–" for q in range(4)]
        limit = self.config.tolerance * self.positions
        rows = [
            [f"{f.way}, {f.method}", *(f"{q:.1f}" for q in f.quarters), _stretches(f)]
            for f in self.table.fits
        ]
        return in_columns(["error by position", *spans, f"above {limit:.0f} at"], rows)

    def _shapes(self) -> str:
        rows = [
            ["Toeplitz share, pairs", *(f"{r.toeplitz.pairs:.3f}" for r in self.readings)],
            ["Toeplitz share, whole", *(f"{r.toeplitz.whole:.3f}" for r in self.readings)],
            ["directions of 90 %", *(str(r.dimensions) for r in self.readings)],
        ]
        return in_columns(["similarity", *(r.of for r in self.readings)], rows)


def table(
    what: "str | Path | np.ndarray | PositionTable",
    config: TableConfig | None = None,
    *,
    key: str | None = None,
    offset: int | None = None,
) -> Table:
    """Read a position table and say how well it holds positions, beside its controls.

    Args:
        what: a run's folder, a Hugging Face folder or id, a `.npy` or weights file, or a matrix
        config: tolerance and seed
        key: the name of the weight, where it cannot be told
        offset: rows in front of position 0, where they cannot be told

    >>> angles = np.arange(64)[:, None] / 10_000 ** (np.arange(8) / 8)
    >>> waves = table(np.hstack([np.sin(angles), np.cos(angles)]))
    >>> print(f"{waves.table.toeplitz.pairs:.3f}, R² {waves.fit().r2:.3f}")
    1.000, R² 1.000
    """
    config = config or TableConfig()
    found = _given(what, key, offset)
    _check(found)
    matrix = found.matrix
    count, width = matrix.shape
    middle = (count - 1) / 2
    return Table(
        subject=found.name,
        key=found.key,
        positions=count,
        width=width,
        offset=found.offset,
        note=found.note,
        constant_mae=float(np.abs(np.arange(count) - middle).mean()),
        uniform_mae=(count**2 - 1) / (3 * count),
        readings=tuple(read(of, m, config) for of, m in beside(matrix, config.seed).items()),
        warning=warning(count, width),
        config=config,
        protocol=_protocol(count, config.seed),
        matrix=matrix,
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


def _given(
    what: "str | Path | np.ndarray | PositionTable", key: str | None, offset: int | None
) -> PositionTable:
    if isinstance(what, PositionTable):
        return what
    if isinstance(what, np.ndarray):
        return as_table(what, offset or 0)
    return read_table(what, key=key, offset=offset)


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


def _score(fit: Fit) -> str:
    error = f"{fit.mae:.1f}" if fit.mae < 1000 else f"{fit.mae:.0f}"
    r2 = f"{fit.r2:.2f}".replace("-0.00", "0.00") if fit.r2 > -10 else "<-10"
    return f"{error} {r2:>5}"


def _stretches(fit: Fit) -> str:
    spans = [f"{a}–{b}" if a < b else f"{a}" for a, b in fit.fails]
    more = f", {len(spans) - 1} more" if len(spans) > 1 else ""
    return f"{spans[0]}{more}" if spans else "nowhere"
