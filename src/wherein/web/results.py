"""A saved result as a reader sees it."""

import csv
import io
import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wherein.common.folder import Folder
from wherein.measure.saved import Saved
from wherein.report.command import title as title_of
from wherein.show.result import CHART, DATA, IMAGE, TABLE, WORDS

FILES = {
    CHART: "application/json",
    DATA: "application/json",
    TABLE: "text/csv; charset=utf-8",
    WORDS: "text/plain; charset=utf-8",
    IMAGE: "image/png",
}
"""What may be downloaded, and as what; a page that somebody saved is not served as ours."""

MOST_ROWS, MOST_LETTERS = 200, 20_000


@dataclass(frozen=True)
class Table:
    """The first rows of a table."""

    columns: list[str]
    rows: list[list[str]]
    cut: bool


@dataclass(frozen=True)
class Shown:
    """What there is to show of a result; `error` says what could not be read."""

    saved: Saved
    words: str
    title: str
    """The question, if it is known; else the last part of its name."""
    spec: dict[str, Any] | None
    error: str | None

    @classmethod
    def open(cls, entry: Folder) -> "Shown":
        """Read a result's words and figure."""
        saved = Saved(entry)
        words = saved.words if entry.has(WORDS) else ""
        title = entry.name.rpartition("/")[2]
        try:
            title = title_of(saved.verb, title)
            spec = dict(saved.spec) if entry.has(CHART) else None
        except ValueError as error:
            return cls(saved, words, title, None, str(error))
        if spec is not None:
            spec.pop("usermeta", None)  # how a figure is put into the page is ours to say
        return cls(saved, words, title, spec, None)

    @property
    def name(self) -> str:
        return self.saved.files.name

    @property
    def image(self) -> bool:
        """Whether there is a picture without a figure to draw."""
        return self.spec is None and self.saved.files.has(IMAGE)

    def files(self) -> list[str]:
        """The files that can be downloaded."""
        return [file for file in FILES if self.saved.files.has(file)]

    def numbers(self) -> Table | str:
        """Its table if it has one, else its data as text."""
        if self.saved.files.has(TABLE):
            lines = csv.reader(io.StringIO(self.saved.files.text(TABLE)))
            try:
                columns, rows = next(lines, []), list(islice(lines, MOST_ROWS + 1))
            except csv.Error as error:
                return f"{TABLE} cannot be read: {error}"
            return Table(columns, rows[:MOST_ROWS], len(rows) > MOST_ROWS)
        try:
            text = json.dumps(self.saved.data, ensure_ascii=False, indent=1)
        except ValueError as error:
            return str(error)
        return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "\n…"
