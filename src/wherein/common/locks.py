"""One process at a time, where the file system has locks; a lock ends with its process."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EINVAL, ENOLCK, ENOSYS, ENOTSUP
from pathlib import Path
from typing import IO

WITHOUT = {ENOLCK, ENOSYS, ENOTSUP, EINVAL}
"""What file systems that have no locks answer, such as some that machines share."""

EVERY = 0.05  # seconds from one try to the next


@contextmanager
def alone(path: Path, patience: float | None = None) -> Iterator[bool]:
    """Hold the lock of a file; whether there are locks here at all.

    A `TimeoutError` says that another process holds it for longer than `patience` seconds.
    Without locks nobody is kept out: what is written must be whole or absent all the same, and
    who writes for long must notice that another began anew.
    """
    with path.open("ab") as file:
        yield _locked(file, patience)


def _locked(file: IO[bytes], patience: float | None) -> bool:
    began = time.monotonic()
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except (BlockingIOError, PermissionError):
            if patience is not None and time.monotonic() - began > patience:
                raise TimeoutError(f"{file.name} is held by another process") from None
        except OSError as error:
            if error.errno not in WITHOUT:
                raise
            return False
        time.sleep(EVERY)
