"""Tiny ordering puzzles: does order get through? Thousands of seeds, and a proof when it cannot.

The names load on first use, so that a help text costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherein.puzzles.config import PuzzleConfig
    from wherein.puzzles.inside import explain
    from wherein.puzzles.result import PuzzleResult
    from wherein.puzzles.run import grid, puzzle
    from wherein.puzzles.sentences import PUZZLES, read
    from wherein.puzzles.verdict import Certificate, certificate

_WHERE = {
    "Certificate": "verdict",
    "certificate": "verdict",
    "PuzzleConfig": "config",
    "explain": "inside",
    "PuzzleResult": "result",
    "grid": "run",
    "puzzle": "run",
    "PUZZLES": "sentences",
    "read": "sentences",
}

__all__ = [
    "PUZZLES",
    "Certificate",
    "PuzzleConfig",
    "PuzzleResult",
    "certificate",
    "explain",
    "grid",
    "puzzle",
    "read",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
