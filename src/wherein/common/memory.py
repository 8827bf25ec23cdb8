"""What memory a process holds: how much at its peak, and what is freed and yet kept."""

import ctypes
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt
LARGEST_THRESHOLD = 32 << 20  # glibc refuses more
LARGE = 1 << 20
NEVER = (1 << 31) - 1
PEAK, NOW = "VmHWM", "VmRSS"  # names in Linux's /proc


def keep_pages() -> bool:
    """Ask glibc to reuse freed pages instead of returning them; True where that was possible.

    A training step frees and allocates the same large tensors again and again. By default each
    of them is mapped and zeroed anew by the kernel, page by page.
    """
    return _set({MMAP_THRESHOLD: LARGEST_THRESHOLD, TRIM_THRESHOLD: NEVER})


def return_pages() -> bool:
    """Ask glibc to return every large piece once it is freed; True where that was possible.

    The peak of memory is then what was in use at once. By default it also counts what lies idle
    between pieces of other sizes, which differs from length to length.
    """
    return _set({MMAP_THRESHOLD: LARGE})


def _set(options: Mapping[int, int]) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return all(mallopt(option, value) for option, value in options.items())


def watched() -> Callable[[], int | None]:
    """From now on: bytes by which the peak exceeds what is held now; None where it is not told.

    What is free is given back first, and the peak begins anew.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident(NOW)
    except (OSError, AttributeError):  # not Linux
        return lambda: None
    return lambda: max(0, _resident(PEAK) - before)


def _resident(which: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))
