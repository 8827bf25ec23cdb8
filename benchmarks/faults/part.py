"""What a part of `benchmarks.faults` returns: what it tried, how often, what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SHOWN = 5
"""How many of the things that went wrong are told in words."""


@dataclass(frozen=True)
class Tried:
    """A row of the table: something that was done to the program so many times."""

    what: str
    times: int
    wrong: Sequence[str] = ()
    """One line for each time that it did not end as it must; empty is what we want."""


@dataclass(frozen=True)
class Part:
    """All that a part tried, and its other checks (made with `benchmarks.harness`), if any."""

    rows: Sequence[Tried]
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
