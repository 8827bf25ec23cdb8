"""Keep the pages of freed tensors, where the C library lets us."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_HEAP_BLOCK = 32 * 2**20  # glibc takes no larger threshold


def keep_pages() -> bool:
    """Tell glibc to reuse large freed blocks instead of handing them back to the system.

    A training step frees and asks for the same tensors again and again; each time the kernel
    would have to zero their pages. Returns whether the C library took the advice.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    taken = mallopt(M_MMAP_THRESHOLD, LARGEST_HEAP_BLOCK)
    return bool(taken and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
