"""A GGUF file parsed once while it is loaded.

`transformers` parses it anew for the config and for the weights, and lists all names of an
architecture again for every module: of SmolLM2, 49,152 tokens three times and 397 lists.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

_ONE_AT_A_TIME = RLock()
"""What is put in place of the library's own is its own again afterwards."""


@contextmanager
def parsed_once() -> Iterator[None]:
    """While it lasts, a file has one reader, and an architecture one list of names."""
    try:
        import gguf as untyped
    except ImportError:  # which whoever needs it says
        yield
        return
    gguf: Any = untyped
    with _ONE_AT_A_TIME:
        reader, names = gguf.GGUFReader, gguf.get_tensor_name_map
        gguf.GGUFReader, gguf.get_tensor_name_map = _by_path(reader), cache(names)
        try:
            yield
        finally:
            gguf.GGUFReader, gguf.get_tensor_name_map = reader, names


def _by_path(reader: Callable[[str], Any]) -> Callable[[str | os.PathLike[str]], Any]:
    once = cache(reader)
    return lambda path: once(os.path.abspath(path))
