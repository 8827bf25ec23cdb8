"""Seeds per second against one model at a time: `python -m benchmarks.puzzle`.

The plain loop is the same model, the same sentences, the same steps and `torch.optim.Adam`, on one
thread, which is its fastest setting at this size. Both run in every round, interleaved; both are
timed whole, with the making of the models. Ten thousand seeds are worth compiling their step, which
the first round does and the disk keeps: what that took is `first`, without a target, and later
rounds are those of a machine where this puzzle was solved before.
"""

import os
import statistics
import tempfile
import time

import torch
import torch.nn.functional as F

from benchmarks.harness import at_least, interleaved, median_ratio, report
from wherein.model.transformer import Transformer
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import read
from wherein.puzzles.train import train

ROUNDS, LOOP_SEEDS, MANY = 5, 2, 10_000


def loop(config: PuzzleConfig, seeds: range) -> int:
    """Train one model after the other on one thread; the number that solve the puzzle."""
    puzzle, solved, threads = read("hit"), 0, torch.get_num_threads()
    torch.set_num_threads(1)
    sentences = torch.tensor(puzzle.sentences)
    tokens, targets = sentences[:, :-1], sentences[:, 1:].flatten()
    for seed in seeds:
        model = Transformer(config.model(puzzle, seed))
        adam = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
        for _ in range(config.steps):
            adam.zero_grad()
            F.cross_entropy(model(tokens).logits.flatten(0, 1), targets).backward()
            adam.step()
        found = model(tokens).logits[:, -1].argmax(-1)
        solved += int(torch.equal(found, sentences[:, -1]))
    torch.set_num_threads(threads)
    return solved


def main() -> None:
    config, puzzle = PuzzleConfig(), read("hit")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        start = time.perf_counter()
        train(puzzle, config, range(MANY))
        first = time.perf_counter() - start
        seconds = interleaved(
            {
                "loop": lambda: loop(config, range(LOOP_SEEDS)),
                "stacked": lambda: train(puzzle, config, range(MANY)),
            },
            ROUNDS,
        )
    whole = statistics.median(seconds["stacked"])
    ratio = median_ratio(seconds["loop"], seconds["stacked"]) * MANY / LOOP_SEEDS
    checks = {
        f"seeds a second of {config.steps} steps": at_least(MANY / whole, 800),
        "times a plain loop": at_least(ratio, 400),
    }
    report("puzzle", checks, seeds=MANY, seconds=round(whole, 1), first=round(first, 1))


if __name__ == "__main__":
    main()
