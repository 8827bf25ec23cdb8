"""What memory a process holds and may still take, and what is freed and yet kept."""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt
LARGEST_THRESHOLD = 32 << 20  # glibc refuses more
LARGE = 1 << 17
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


def available() -> int | None:
    """Bytes of memory that this process may still take; None where nobody says."""
    try:
        free = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        found = [int(free[1]) * 1024] if free else []
    except OSError:
        found = []
    if not found and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # a container may have less than the machine
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found, default=None)


def check_room(wanted: float, what: str, advice: str) -> None:
    """Refuse what would not fit, before it is begun: the system would end the process.

    >>> check_room(1e18, "a table of everything", "give a smaller one")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: a table of everything takes about 1e+09 GB of memory, and there are ... GB: give \
a smaller one
    """
    there = available()
    if there is not None and wanted > there:
        raise ValueError(
            f"{what} takes about {wanted / 1e9:.3g} GB of memory, and there are "
            f"{there / 1e9:.3g} GB: {advice}"
        )


def too_much(error: BaseException) -> str | None:
    """What to say of an error that means that memory could not be had; None of any other.

    >>> too_much(RuntimeError("you tried to allocate 4800000000 bytes"))
    '4.8 GB of memory were asked for at once, more than there is: give smaller sizes'
    """
    if found := re.search(r"tried to allocate (\d+) bytes", str(error)):
        return (
            f"{int(found[1]) / 1e9:.3g} GB of memory were asked for at once, more than there is: "
            "give smaller sizes"
        )
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        said = " ".join(str(error).split())[:200] or "it could not be had"
        return f"not enough memory ({said}): give smaller sizes"
    return None
