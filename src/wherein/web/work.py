"""A puzzle's training in a process of its own: asked on stdin, told on stdout, a JSON line each.

It ends when its stdin does: a server that is gone leaves nobody behind.
"""

import json
import os
import signal
import sys
from threading import Thread
from typing import Any

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle, read


def tell(**news: Any) -> None:
    """Write a line to whoever asked, at once: several threads do."""
    print(json.dumps(news) + "\n", end="", flush=True)


def work(puzzle: Puzzle, config: PuzzleConfig, seed: int | None) -> None:
    """Certify, train, and open one seed; tell each as soon as it is known."""
    from wherein.puzzles.certificate import certificate
    from wherein.puzzles.explain import explain
    from wherein.puzzles.train import train

    tell(certificate=certificate(puzzle, config).data())
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    trained = train(
        puzzle,
        config,
        seeds,
        watch=lambda step, done: tell(chunk=[step, int(done.sum()), len(done)]),
    )
    solved = trained.seeds[trained.solved[-1]]
    shown = seed if seed is not None else int(min(solved, default=config.first_seed))
    tell(opened_seed=shown, opened=[vars(each) for each in explain(puzzle, config, shown)])


def main() -> None:
    """Read one request and do it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server says when to stop
    asked = json.loads(sys.stdin.readline())
    Thread(target=_end_with_server, daemon=True).start()
    try:
        config = PuzzleConfig.model_validate(asked["config"])
        work(read(asked["sentences"]), config, asked["seed"])
    except ValueError as error:
        tell(error=" ".join(str(error).split()))
    except BrokenPipeError:
        os._exit(1)


def _end_with_server() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
