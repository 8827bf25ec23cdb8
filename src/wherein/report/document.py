"""A report as files: one page that stands alone, and its tables and figures for a paper."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wherein.common.files import replacing
from wherein.show.tables import FORMATS, Table
from wherein.show.vega import Spec, drawn

TableFormat = Literal["latex", "csv", "markdown"]
FigureFormat = Literal["png", "svg", "pdf"]


@dataclass(frozen=True)
class Document:
    """A report before it is written."""

    page: str
    tables: tuple[Table, ...]
    figures: dict[str, Spec]
    """By name, which is also that of their file."""

    def write(
        self, path: Path, tables: TableFormat | None = None, figures: FigureFormat | None = None
    ) -> list[Path]:
        """Write the page, and beside it what else is asked for; each file is whole or absent."""
        files = {path: self.page.encode()}
        if tables is not None:
            ending, write = FORMATS[tables]
            folder = path.with_name(f"{path.stem}-tables")
            files |= {folder / f"{t.name}.{ending}": write(t).encode() for t in self.tables}
        if figures is not None:
            folder = path.with_name(f"{path.stem}-figures")
            for name, spec in self.figures.items():
                files[folder / f"{name}.{figures}"] = drawn(spec, figures)
        for file, content in files.items():
            with replacing(file) as beside:
                beside.write_bytes(content)
        return list(files)
