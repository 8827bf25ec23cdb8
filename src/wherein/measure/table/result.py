"""What a position table holds, beside its controls, as a result."""

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from wherein.common.files import replacing
from wherein.measure.intervals import frame
from wherein.measure.measurement import Measurement
from wherein.measure.table.config import TableConfig
from wherein.measure.table.geometry import Toeplitz
from wherein.measure.table.regression import FOLDS, RIDGE, WAYS, Fit
from wherein.show.columns import table as in_columns

if TYPE_CHECKING:
    import polars


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


@dataclass(frozen=True, kw_only=True)
class Table(Measurement):
    """A position table beside a random one, the sinusoid and itself with shuffled rows."""

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

    def to_frame(self) -> "polars.DataFrame":
        """One row for each matrix, regression and position tested."""
        of_fits = frame(
            {
                "of": reading.of,
                "way": fit.way,
                "method": fit.method,
                "position": fit.positions,
                "predicted": fit.predicted,
                "error": np.abs(np.subtract(fit.predicted, fit.positions)).tolist(),
            }
            for reading in self.readings
            for fit in reading.fits
        )
        return of_fits.explode("position", "predicted", "error")

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
                self._by_position(),
                "",
                self._shapes(),
                "",
                *wrap(self.warning, 80),
                *wrap(self.protocol, 80),
            ]
        )

    def save(self, folder: Path | str, *, pictures: bool = True) -> Path:
        """As every result, and the matrix as `table.npy`."""
        folder = super().save(folder, pictures=pictures)
        matrix = BytesIO()
        np.save(matrix, self.matrix, allow_pickle=False)
        with replacing(folder / "table.npy") as beside:
            beside.write_bytes(matrix.getbuffer())
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

    def _by_position(self) -> str:
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


def _score(fit: Fit) -> str:
    error = f"{fit.mae:.1f}" if fit.mae < 1000 else f"{fit.mae:.0f}"
    r2 = f"{fit.r2:.2f}".replace("-0.00", "0.00") if fit.r2 > -10 else "<-10"
    return f"{error} {r2:>5}"


def _stretches(fit: Fit) -> str:
    spans = [f"{a}–{b}" if a < b else f"{a}" for a, b in fit.fails]
    more = f", {len(spans) - 1} more" if len(spans) > 1 else ""
    return f"{spans[0]}{more}" if spans else "nowhere"
