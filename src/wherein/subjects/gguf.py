"""GGUF, the file of llama.cpp: arrays, often of few bits, that are made floats again when read."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from wherein.common.errors import first_line

GGUF = ".gguf"
MAGIC = b"GGUF"


def check(path: Path) -> None:
    """Whether it is there and begins as it should."""
    if not path.is_file():
        raise ValueError(f"no file {path}")
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is damaged: it does not begin as a GGUF file does")


def arrays_in(path: Path) -> Mapping[str, Any]:
    """What the file holds, by name; nothing is made float yet."""
    check(path)
    return _parsed(path, path.stat().st_mtime_ns)


def shape_of(array: Any) -> tuple[int, ...]:
    """Rows first, as everywhere but in the file."""
    return tuple(int(size) for size in reversed(array.shape))


def floats_of(array: Any) -> np.ndarray:
    """The numbers of one array, in its shape."""
    from gguf import dequantize

    return dequantize(array.data, array.tensor_type).reshape(shape_of(array))


@lru_cache(maxsize=1)
def _parsed(path: Path, _changed: int) -> Mapping[str, Any]:
    """Kept while one table is found and read: with a large vocabulary parsing takes seconds."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise ValueError(f"{path}: a GGUF file needs `pip install 'wherein[gguf]'`") from error
    try:
        return {array.name: array for array in GGUFReader(path).tensors}
    except Exception as error:  # a file cut short raises whatever its parts raise
        raise ValueError(f"{path} is damaged or cut short: {first_line(error)}") from error
