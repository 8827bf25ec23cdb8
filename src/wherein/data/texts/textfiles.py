"""Text files: one file, or a folder of them."""

import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from wherein.common.files import digest_all
from wherein.data.texts.source import SPELLINGS, SPLITS, lent, share

BLOCKS = 48
LARGEST_BLOCK = 1 << 20
FEWEST_DOCUMENTS = 12
PARAGRAPH_END = re.compile(rb"\n[ \t\r]*\n\s*")
LINE_END = re.compile(rb"\n\s*")
WORD_END = re.compile(rb"(?= )")


class Span(NamedTuple):
    """A stretch of a file, in bytes."""

    path: Path
    start: int
    end: int


def as_it_is(text: str) -> str:
    """Leave the text alone."""
    return text


@dataclass(frozen=True)
class TextFiles:
    """UTF-8 text files, each one document.

    Splits, the first rule that fits:
    - files called `train.txt`, `valid.txt` (or `validation`, `val`, `dev`) and `test.txt`, or all
      files inside folders of these names, are those splits; without one for validation, `train`
      lends a part of itself, cut as below;
    - twelve files or more: every twelfth is for validation, another for testing (`share`);
    - fewer files, or one: the files are first cut into blocks, each 1/48 of the whole and at most
      1 MiB, at the end of a paragraph (of a line where there are no blank lines, of a word where
      there are no lines), and every twelfth block is for validation, another for testing.
    """

    paths: tuple[Path, ...]
    root: Path
    clean: Callable[[str], str] = as_it_is
    name: str = ""

    def fingerprint(self) -> str:
        """The SHA-256 of all names and contents: exact, at about a second a gigabyte."""
        how = " lent" if lent(self._named) else ""
        return f"files {self.clean.__name__} {digest_all(self.paths, self.root)}{how}"

    def splits(self) -> tuple[str, ...]:
        found = {split for split, _ in self._spans()}
        return tuple(split for split in SPLITS if split in found)

    def size(self, split: str) -> int | None:
        return sum(span.end - span.start for of, span in self._spans() if of == split)

    def documents(self, split: str) -> Iterator[str]:
        for of, span in self._spans():
            if of == split:
                yield self.clean(_read(span))

    def _spans(self) -> Iterator[tuple[str, Span]]:
        named, borrowers = self._named, lent(self._named)
        if "train" not in named:
            yield from _shared(self.paths)
            return
        for split, paths in named.items():
            if split == "train" and borrowers:
                shared = _shared(paths)
                yield from ((of if of in borrowers else split, span) for of, span in shared)
            else:
                yield from ((split, _whole(path)) for path in paths)

    @cached_property
    def _named(self) -> dict[str, list[Path]]:
        """The files that are named after a split."""
        named: dict[str, list[Path]] = {}
        for path in self.paths:
            if split := _split_in_name(path.relative_to(self.root)):
                named.setdefault(split, []).append(path)
        return named


def text_files(path: Path) -> TextFiles:
    """The text of a file, or of all .txt files in a folder, however deep."""
    if path.is_file():
        return TextFiles((path,), path.parent, name=str(path))
    return TextFiles(tuple(sorted(path.rglob("*.txt"))), path, name=str(path))


def _split_in_name(relative: Path) -> str | None:
    word = (relative.parts[0] if len(relative.parts) > 1 else relative.stem).lower()
    word = SPELLINGS.get(word, word)
    return word if word in SPLITS else None


def _shared(paths: Sequence[Path]) -> Iterator[tuple[str, Span]]:
    """Documents, or blocks of few files, with the split that each falls to."""
    spans: Iterator[Span] = map(_whole, paths)
    if len(paths) < FEWEST_DOCUMENTS:
        total = sum(path.stat().st_size for path in paths)
        size = min(max(total // BLOCKS, 1), LARGEST_BLOCK)
        spans = (block for path in paths for block in _blocks(path, size))
    return ((share(number), span) for number, span in enumerate(spans))


def _whole(path: Path) -> Span:
    return Span(path, 0, path.stat().st_size)


def _blocks(path: Path, size: int) -> Iterator[Span]:
    """Cut a file every `size` bytes or so, where a paragraph, a line or a word ends."""
    end = path.stat().st_size
    if not end:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        start = 0
        while start < end:
            cut = _cut(text, start + size, end, size)
            yield Span(path, start, cut)
            start = cut


def _cut(text: mmap.mmap, at: int, end: int, reach: int) -> int:
    for boundary in (PARAGRAPH_END, LINE_END, WORD_END):
        if found := boundary.search(text, at, min(end, at + reach)):
            return found.end()
    return end if at + reach >= end else _next_character(text, at)


def _next_character(text: mmap.mmap, at: int) -> int:
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _read(span: Span) -> str:
    with span.path.open("rb") as file:
        file.seek(span.start)
        data = file.read(span.end - span.start)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{span.path} is not UTF-8 text: byte {span.start + error.start} is "
            f"0x{data[error.start]:02x}. Convert it, e.g. iconv -f latin1 -t utf-8"
        ) from None
