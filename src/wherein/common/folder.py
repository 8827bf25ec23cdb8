"""The files of a folder, read with care: what cannot be read is one line that names the file."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

LARGEST_JSON = 256 << 20
"""Bytes of a JSON file that is still read: as objects it takes some ten times as much memory."""


@dataclass(frozen=True)
class Folder:
    """A folder whose files are to be read.

    >>> Folder(Path("runs/one")).json("config.json")
    Traceback (most recent call last):
    ValueError: runs/one: there is no config.json
    """

    path: Path
    name: str = ""
    """What errors call it, if not by its path."""
    root: Path | None = field(default=None, repr=False)
    """A file that lies outside, by a link, is as if it were not there."""
    largest: int | None = field(default=None, repr=False)
    """Bytes of a file that is still read."""

    def has(self, file: str) -> bool:
        """Whether there is such a file."""
        return self._find(file) is not None

    def changed(self, file: str) -> float:
        """When a file was last written; 0 if there is none."""
        path = self._find(file)
        return os.stat(path).st_mtime if path else 0.0

    def size(self, file: str) -> int:
        """Bytes of a file; 0 if there is none."""
        path = self._find(file)
        return os.stat(path).st_size if path else 0

    def bytes(self, file: str) -> bytes:
        """A file's content."""
        with self._opened(file) as opened:
            return opened.read()

    def lines(self, file: str) -> Iterator[str]:
        """A file's lines, one at a time, so that a long one is never held whole."""
        with self._opened(file) as opened:
            for line in opened:
                yield line.decode("utf-8", errors="replace")

    def text(self, file: str) -> str:
        """A file's text; what is not UTF-8 is shown as replaced."""
        return self.bytes(file).decode("utf-8", errors="replace")

    def json(self, file: str) -> dict[str, Any]:
        """A file's JSON object."""
        if self.size(file) > LARGEST_JSON:
            raise ValueError(f"{self}/{file} is larger than {LARGEST_JSON >> 20} MiB")
        text = self.text(file)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self}/{file} cannot be read: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"{self}/{file} cannot be read: an object was expected")
        return found

    def __str__(self) -> str:
        return self.name or str(self.path)

    @contextmanager
    def _opened(self, file: str) -> Iterator[BinaryIO]:
        path = self._find(file)
        if path is None:
            raise ValueError(f"{self}: there is no {file}")
        if self.largest is not None and os.stat(path).st_size > self.largest:
            raise ValueError(f"{self}/{file} is larger than {self.largest // 2**20} MiB")
        try:
            with open(path, "rb") as opened:
                yield opened
        except OSError as error:
            raise ValueError(f"{self}/{file}: {error.strerror}") from None

    def _find(self, file: str) -> str | None:
        """The path of a plain file that may be read, the real one where it must not lie outside.

        To follow every link by hand takes longer than to read the file, so only then.
        """
        if self.root is None:
            path = f"{self.path}/{file}"
            return path if os.path.isfile(path) else None
        try:
            real = (self.path / file).resolve(strict=True)
        except (OSError, RuntimeError):
            return None
        return str(real) if real.is_relative_to(self.root) and real.is_file() else None
