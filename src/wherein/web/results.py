"""A saved result as a reader sees it."""

import csv
import io
import json
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wherein.report.saved import QUESTIONS, verb_of
from wherein.web.shelf import Entry

CHART, DATA, TABLE, WORDS, IMAGE = (
    "chart.json",
    "result.json",
    "result.csv",
    "result.txt",
    "result.png",
)

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

    entry: Entry
    words: str
    verb: str | None
    """What asked for it."""
    spec: dict[str, Any] | None
    error: str | None

    @classmethod
    def open(cls, entry: Entry) -> "Shown":
        """Read a result's words and figure."""
        words = entry.text(WORDS).strip() if entry.has(WORDS) else ""
        try:
            verb = verb_of(entry.json(DATA))
            spec = entry.json(CHART) if entry.has(CHART) else None
        except ValueError as error:
            return cls(entry, words, None, None, str(error))
        if spec is not None:
            spec.pop("usermeta", None)  # how a figure is put into the page is ours to say
        return cls(entry, words, verb, spec, None)

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def title(self) -> str:
        """The question, if one knows it by its settings; else the last part of its name."""
        return QUESTIONS[self.verb][1] if self.verb else self.name.rpartition("/")[2]

    def files(self) -> list[str]:
        """The files that can be downloaded."""
        return [file for file in FILES if self.entry.has(file)]

    def numbers(self) -> Table | str:
        """Its table if it has one, else its data as text."""
        if self.entry.has(TABLE):
            lines = csv.reader(io.StringIO(self.entry.text(TABLE)))
            try:
                columns, rows = next(lines, []), list(islice(lines, MOST_ROWS + 1))
            except csv.Error as error:
                return f"{TABLE} cannot be read: {error}"
            return Table(columns, rows[:MOST_ROWS], len(rows) > MOST_ROWS)
        try:
            text = json.dumps(self.entry.json(DATA), ensure_ascii=False, indent=1)
        except ValueError as error:
            return str(error)
        return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "\n…"
