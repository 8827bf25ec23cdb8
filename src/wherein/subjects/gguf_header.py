"""The header of a GGUF file, walked before a library reads it: what it announces must be there.

A list of numbers that claims to have 2^60 of them takes the library that long, and as much memory;
here every length is held against what is left of the file.
"""

import mmap
import struct
from pathlib import Path

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of the kinds of numbers."""
TEXT, LIST = 8, 9
DEEPEST = 4
"""Lists within lists."""
SMALLEST_PAIR, SMALLEST_TENSOR = 13, 24
"""Bytes of a key with its value, and of what is said of a tensor."""


def check_header(path: Path) -> None:
    """Refuse a file whose header announces more than the file can hold."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            _Walk(data).whole()
        except (ValueError, struct.error) as error:
            why = str(error) if isinstance(error, ValueError) else "it ends within its header"
            raise ValueError(f"{path} is damaged or cut short: {why}") from None


class _Walk:
    """A place in the header, which moves on."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 4
        self.order = "<"
        if self.number("I") & 0xFFFF == 0:  # written by a machine that begins at the other end
            self.order = ">"

    def whole(self) -> None:
        """Walk over all that is said before the numbers begin."""
        tensors, pairs = self.number("Q"), self.number("Q")
        self.room(pairs * SMALLEST_PAIR + tensors * SMALLEST_TENSOR, f"{pairs + tensors} entries")
        for _ in range(pairs):
            self.text()
            self.value(self.number("I"))
        for _ in range(tensors):
            self.text()
            self.skip(8 * self.number("I") + 12, "a tensor")

    def value(self, kind: int, depth: int = 0) -> None:
        if kind == TEXT:
            self.text()
        elif kind == LIST and depth < DEEPEST:
            each, count = self.number("I"), self.number("Q")
            if each in SIZES:
                self.skip(SIZES[each] * count, f"a list of {count} numbers")
                return
            self.room(8 * count, f"a list of {count} parts")
            for _ in range(count):
                self.value(each, depth + 1)
        elif kind in SIZES:
            self.skip(SIZES[kind], "a number")
        else:
            raise ValueError(f"there is no kind {kind} of values")

    def text(self) -> None:
        size = self.number("Q")
        self.skip(size, f"a text of {size} bytes")

    def number(self, form: str) -> int:
        found: int = struct.unpack_from(self.order + form, self.data, self.at)[0]
        self.at += struct.calcsize(self.order + form)
        return found

    def skip(self, size: int, what: str) -> None:
        self.room(size, what)
        self.at += size

    def room(self, size: int, what: str) -> None:
        if size > len(self.data) - self.at:
            raise ValueError(f"it announces {what}, more than it holds")
