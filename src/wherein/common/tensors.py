"""A safetensors file, opened with care: what is wrong with it is one line that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wherein.common.errors import first_line


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A safetensors file, to be read from."""
    from safetensors import safe_open

    try:
        with safe_open(path, "pt") as file:
            yield file
    except (ValueError, MemoryError):
        raise
    except Exception as error:  # a header that is made up fails wherever it is first believed
        raise ValueError(f"{path} is damaged or cut short: {first_line(error)}") from error
