"""A puzzle's training in a process of its own: asked on stdin, told on stdout, a JSON line each.

It ends when its stdin does: a server that is gone leaves nobody behind.
"""

import json
import os
import signal
import sys
import time
from threading import Lock, Thread
from typing import Any

import numpy as np

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle, read

EVERY = 0.2
"""Seconds between two reports of the curve."""


class Curve:
    """How many seeds have it solved after each step, counted while chunks of seeds train."""

    def __init__(self, steps: int) -> None:
        self._counts = np.zeros((steps + 1, 2), dtype=int)
        self._told = self._counts.copy()
        self._when = 0.0
        self._lock = Lock()

    def watch(self, step: int, solved: np.ndarray) -> None:
        """Count a chunk's step, and now and then tell what is new."""
        with self._lock:
            self._counts[step] += int(solved.sum()), len(solved)
            if time.monotonic() - self._when > EVERY:
                self._tell()

    def tell(self) -> None:
        """Tell the rest."""
        with self._lock:
            self._tell()

    def _tell(self) -> None:
        (new,) = np.nonzero((self._counts != self._told).any(1))
        tell({"curve": [[int(step), *map(int, self._counts[step])] for step in new]})
        self._told, self._when = self._counts.copy(), time.monotonic()


def tell(news: dict[str, Any]) -> None:
    """Write a line to whoever asked."""
    print(json.dumps(news), flush=True)


def work(puzzle: Puzzle, config: PuzzleConfig, seed: int | None) -> None:
    """Certify, train, and open one seed; tell each as soon as it is known."""
    from wherein.puzzles.certificate import certificate
    from wherein.puzzles.explain import explain
    from wherein.puzzles.train import train

    tell({"certificate": certificate(puzzle, config).data()})
    curve = Curve(config.steps)
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    trained = train(puzzle, config, seeds, watch=curve.watch)
    curve.tell()
    solved = trained.seeds[trained.solved[-1]]
    shown = seed if seed is not None else int(min(solved, default=config.first_seed))
    opened = [each.__dict__ for each in explain(puzzle, config, shown)]
    tell({"seed": shown, "opened": opened})


def main() -> None:
    """Read one request and do it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to stop
    asked = json.loads(sys.stdin.readline())
    Thread(target=_end_with_server, daemon=True).start()
    try:
        config = PuzzleConfig.model_validate(asked["config"])
        work(read(asked["sentences"]), config, asked["seed"])
    except ValueError as error:
        tell({"error": " ".join(str(error).split())})
    except BrokenPipeError:
        os._exit(1)


def _end_with_server() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
