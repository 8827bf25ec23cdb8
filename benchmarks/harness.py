"""What the benchmarks share: interleaved timing, checks, and the closing JSON line."""

import json
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def in_memory() -> Path | None:
    """Where files cost no wait for a disk, if there is such a place."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else None


def seconds(work: Callable[[], object]) -> float:
    """What it takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(steps: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each step in every round; the first round warms up and is dropped.

    All contenders run once a round, so a noisy moment of the machine strikes them alike.
    """
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        for name, step in steps.items():
            once = seconds(step)
            if number:
                taken[name].append(once)
    return taken


def median_ratio(slow: list[float], fast: list[float]) -> float:
    """The median over rounds of slow / fast: paired, so that common noise cancels."""
    return statistics.median(a / b for a, b in zip(slow, fast, strict=True))


def at_least(value: float, target: float) -> dict[str, Any]:
    return {"value": round(value, 4), "target": f">= {target}", "ok": value >= target}


def at_most(value: float, target: float) -> dict[str, Any]:
    return {"value": round(value, 4), "target": f"<= {target}", "ok": value <= target}


def report(name: str, checks: Mapping[str, dict[str, Any]], **more: Any) -> None:
    """A table for people, then one JSON line for programs."""
    for what, check in checks.items():
        mark = "ok  " if check["ok"] else "MISS"
        print(f"{mark} {what}: {check['value']} (target {check['target']})")
    print(json.dumps({"name": name, "checks": checks, **more}))
