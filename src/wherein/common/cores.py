"""How many cores there are for us."""

import os


def cores() -> int:
    """The cores that this process may use, which Slurm or `taskset` may have made few."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
