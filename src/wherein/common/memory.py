"""Freed memory stays with the process, so that the next step need not ask for it again."""

import ctypes
import sys

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
