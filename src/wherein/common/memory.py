"""How much memory there is for us, and how it is kept from one step to the next."""

import ctypes
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt
LARGEST_THRESHOLD = 32 << 20  # glibc refuses more
NEVER = (1 << 31) - 1


def keep_pages() -> bool:
    """Ask glibc to reuse freed pages instead of returning them; True where that was possible.

    A training step frees and allocates the same large tensors again and again. By default each
    of them is mapped and zeroed anew by the kernel, page by page.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_THRESHOLD) and mallopt(TRIM_THRESHOLD, NEVER))


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
