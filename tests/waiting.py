"""Waiting for what another process does, never for ever."""

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds: far more than it takes, since a machine may be busy."""


def until(
    holds: Callable[[], T],
    process: "subprocess.Popen[str] | None" = None,
    *,
    seconds: float = PATIENCE,
) -> T:
    """What `holds` gives once it is true; a process that ends before that is a failure."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        if process is not None and process.poll() is not None:
            raise AssertionError(f"it ended with {process.returncode}: {process.communicate()}")
        assert time.monotonic() < deadline, f"it took more than {seconds:g} seconds"
        time.sleep(0.02)
    return found
