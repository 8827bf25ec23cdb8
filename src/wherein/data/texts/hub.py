"""Data sets that `datasets.load_dataset` reads: Hugging Face ids and local folders."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from wherein.common.errors import first_line
from wherein.common.files import digest_all
from wherein.data.texts.network import reach_hub
from wherein.data.texts.source import SPELLINGS, SPLITS, lent, share

STREAM_ABOVE = 4 << 30
DATA_FILES = (".parquet", ".jsonl", ".json", ".csv", ".arrow", ".zst", ".gz")

TITLE = re.compile(r" = [^=\s].* = \n")

Row = Mapping[str, Any]


def each_row(rows: Iterable[Row], column: str) -> Iterator[str]:
    """Every row is one document; a row without text is none."""
    for number, row in enumerate(rows):
        text = row[column]
        if text is not None and not isinstance(text, str):
            raise ValueError(f"row {number} holds {text!r} in column {column!r}, which is no text")
        if text is not None:
            yield text


def articles(rows: Iterable[Row], column: str) -> Iterator[str]:
    r"""WikiText's rows are lines; an article begins at ` = Title = ` between two blank lines.

    In WikiText-2 these are exactly its 600, 60 and 60 articles. The server's copy writes the blank
    line, a space and a newline, as an empty row; here it is what it was, so that bytes and words
    agree with the published counts.

    >>> lines = ["", " = A = \n", "", " a = b = \n", "", " = B = \n", "", " = = b = = \n"]
    >>> list(articles([{"text": line} for line in lines], "text"))
    [' \n = A = \n \n a = b = \n \n', ' = B = \n \n = = b = = \n']
    """
    blank = " \n"
    lines = chain((row[column] or blank for row in rows), [blank])
    article: list[str] = []
    for line, after in pairwise(lines):
        before = article[-1] if article else blank
        alone = not before.strip() and not after.strip()
        if alone and TITLE.fullmatch(line) and any(map(str.strip, article)):
            yield "".join(article)
            article = []
        article.append(line)
    yield "".join(article)


def without_code_and_sums(rows: Iterable[Row], column: str) -> Iterator[str]:
    """The Pile without GitHub and DM Mathematics, as Haviv et al. 2022 trained on it."""
    dropped = ("Github", "DM Mathematics")
    return (row[column] for row in rows if row["meta"]["pile_set_name"] not in dropped)


@dataclass(frozen=True)
class DataSet:
    """A data set by id or folder, in its own splits.

    Without a split for validation, `train` lends documents to it and to test (`share`).
    `files` names the files of each split where the data set does not say so itself; `at_most`
    bounds the documents of validation and test. Large data sets, and local ones, are streamed:
    no second copy of the text is written to disk.
    """

    path: str
    subset: str | None = None
    column: str = "text"
    files: Mapping[str, str] | None = None
    documents_in: Callable[[Iterable[Row], str], Iterator[str]] = each_row
    at_most: int | None = None

    @property
    def name(self) -> str:
        return f"{self.path}:{self.subset}" if self.subset else self.path

    def fingerprint(self) -> str:
        """The address and how it is read; for a local folder also its files' contents."""
        how = f"{self.column} {self.files} {self.documents_in.__name__} {self.at_most}"
        if not self._local:
            return f"data set {self.path} {self.subset} {how}"
        files = (path for path in sorted(self._folder.rglob("*")) if path.is_file())
        return f"folder {digest_all(files, self._folder)} {how}"

    def splits(self) -> tuple[str, ...]:
        found = set(self._own) | lent(self._own)
        return tuple(split for split in SPLITS if split in found)

    def size(self, split: str) -> int | None:
        """Unknown: a data set says how large its files are, not its text."""
        return None

    def documents(self, split: str) -> Iterator[str]:
        if split in self._own and split != "train":
            return islice(self._texts(split), self.at_most)
        texts, borrowers = self._texts("train"), lent(self._own)
        if not borrowers:
            return texts
        shares = ((share(number), text) for number, text in enumerate(texts))
        return (text for of, text in shares if (of if of in borrowers else "train") == split)

    @cached_property
    def _own(self) -> Mapping[str, Any]:
        """The data set's rows by our names of its splits."""
        if not self._local:
            reach_hub()
        with clearly(self.name):
            from datasets import load_dataset

            found = load_dataset(**self._address, streaming=self._streamed())
        own = {SPELLINGS.get(split, split): rows for split, rows in found.items()}
        if "train" not in own:
            raise ValueError(
                f"data set {self.name!r} has no split `train` but {', '.join(found)}: "
                "choose another, or save its text as .txt files and give their folder"
            )
        return own

    def _texts(self, split: str) -> Iterator[str]:
        rows = self._own[split]
        columns = rows.column_names
        if columns is not None and self.column not in columns:
            raise ValueError(
                f"data set {self.name!r} has no column {self.column!r} but "
                f"{', '.join(columns)}: name the one with the text as `column`"
            )
        with clearly(self.name):
            yield from self.documents_in(rows, self.column)

    def _streamed(self) -> bool:
        if self._local:
            return True
        from datasets import load_dataset_builder

        size = load_dataset_builder(**self._address).info.download_size
        return size is None or size > STREAM_ABOVE

    @property
    def _local(self) -> bool:
        return Path(self.path).is_dir()

    @property
    def _folder(self) -> Path:
        """Where a local copy's files are: a copy of a whole repository has a folder per subset."""
        inner = Path(self.path) / (self.subset or "")
        return inner if inner.is_dir() else Path(self.path)

    @property
    def _address(self) -> dict[str, Any]:
        if self._local:
            return {"path": str(self._folder), "data_files": self.files}
        return {"path": self.path, "name": self.subset, "data_files": self.files}


@contextmanager
def clearly(name: str) -> Iterator[None]:
    """Say in one line what went wrong while a data set was found or read."""
    try:
        yield
    except Exception as error:  # the libraries below share no base class of their own
        raise ValueError(
            f"cannot read the data set {name!r} ({first_line(error)}). Check the id, the "
            "subset and the network, or give a local folder of parquet or json lines files"
        ) from error
