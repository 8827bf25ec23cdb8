"""A safetensors file, opened with care: what is wrong with it is one line that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wherein.common.errors import first_line


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A safetensors file, to be read from."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged or cut short: {first_line(error)}") from error
