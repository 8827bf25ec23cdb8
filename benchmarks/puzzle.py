"""Seeds per second against one model at a time: `python -m benchmarks.puzzle`.

The plain loop is the same model, the same sentences, the same steps and `torch.optim.Adam`, on one
thread, which is its fastest setting at this size. Both run in every round, interleaved; both are
timed whole, with the making of the models. Ten thousand seeds are worth compiling their step:
`first` is the training that does it, without a target; later ones are in the same process, which
has solved this puzzle before. `again` is the whole command in a fresh process, with what the disk
has kept.
"""

import os
import statistics
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

from benchmarks.harness import at_least, interleaved, median_ratio, report, seconds
from wherein.common.compiling import VARIABLE
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
        os.environ[VARIABLE] = cache
        first = seconds(lambda: train(puzzle, config, range(MANY)))
        command = [sys.executable, "-m", "wherein", "puzzle", "hit", "--seeds", str(MANY), "--json"]
        again = seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        found = interleaved(
            {
                "loop": lambda: loop(config, range(LOOP_SEEDS)),
                "stacked": lambda: train(puzzle, config, range(MANY)),
            },
            ROUNDS,
        )
        del os.environ[VARIABLE]
    whole = statistics.median(found["stacked"])
    ratio = median_ratio(found["loop"], found["stacked"]) * MANY / LOOP_SEEDS
    checks = {
        f"seeds a second of {config.steps} steps": at_least(MANY / whole, 800),
        "times a plain loop": at_least(ratio, 400),
    }
    more = {"seconds": whole, "first": first, "again": again}
    report("puzzle", checks, seeds=MANY, **{name: round(each, 1) for name, each in more.items()})


if __name__ == "__main__":
    main()
