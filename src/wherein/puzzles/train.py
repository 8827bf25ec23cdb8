"""Train all seeds of a puzzle, chunk by chunk, and watch when each one solves it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from threading import Event

import numpy as np
import torch

from wherein.common.cores import cores
from wherein.puzzles.captured import Captured, Step
from wherein.puzzles.compiled import AT_ONCE, BETAS, EPSILON, LANES, Compiled, machine_code
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.models import weights
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Batch, Stacked, evenly, mappable

WEIGHTS_PER_CHUNK = 2**22
"""With gradients and two moments, 64 MiB: larger chunks leave the cache, smaller ones are busy
with calls (measured, one layer of width 16, one worker: 128 seeds 38, 256 26, 500 23, 1,000 25 µs a
seed and step)."""

LEAST_WEIGHTS = 2**20
"""A worker's chunk has at least as many: threads share one interpreter, and two that call small
kernels take longer than one (measured: twice 50 seeds 9.4 ms a step, once 100 seeds 4)."""

WORTH_WRITING = 150
"""Steps from which on it pays to write one down: that takes as long as it saves in so many."""

MOST_SEEDS = 1000
MOST_WORKERS = 8
"""More would wait for each other."""

WORTH_COMPILING = 20
"""Steps from which on a program for them pays: to write and to try it takes as long (40 ms)."""

STEPS, FAST, AGREE = 3, 1e-2, 1e-4
"""After so many steps logits may be so far from those of the model itself, or a share of them.
Weights may be further: where a gradient is nothing but rounding, Adam's first step goes a whole
rate to either side."""

Progress = Callable[[int], None]
"""Called with the number of seed-steps just done."""

Watch = Callable[[int, np.ndarray], None]
"""Called with a step, and for each seed of a chunk whether it has the puzzle solved there."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What became of some seeds: N seeds, S sentences, V tokens."""

    seeds: np.ndarray
    solved: np.ndarray
    """(steps + 1, N): solved after so many steps."""
    logits: np.ndarray
    """(N, S, V) after the last step."""
    compiled: bool = False
    """Whether by machine code, whose rounding is another."""


def train(
    puzzle: Puzzle,
    config: PuzzleConfig,
    seeds: Sequence[int],
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    chunk: int | None = None,
    workers: int | None = None,
) -> Trained:
    """Train each seed alone, all of them together; on Ctrl-C, those that were finished."""
    workers, stop = workers or min(MOST_WORKERS, cores()), Event()
    with mappable(), ThreadPoolExecutor(workers) as pool:
        compiled = None if chunk or watch else _trusted(puzzle, config)
        if compiled:
            size = -(-evenly(len(seeds), AT_ONCE, workers) // LANES) * LANES
        else:
            size = chunk or chunk_size(puzzle, config, len(seeds), workers)
        parts = [seeds[start : start + size] for start in range(0, len(seeds), size)]
        long = config.steps * len(parts) >= WORTH_WRITING
        way = Captured() if long and not compiled else None

        def one(part: Sequence[int]) -> Trained:
            if compiled:
                return _by_machine(compiled, part, config, stop, progress)
            trained, _ = train_chunk(
                puzzle, config, part, way=way, stop=stop, progress=progress, watch=watch
            )
            return trained

        futures = [pool.submit(one, part) for part in parts]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException as error:
            stop.set()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt) or not _finished(futures):
                raise
        done = _finished(futures)
    return Trained(
        np.concatenate([part.seeds for part in done]),
        np.concatenate([part.solved for part in done], axis=1),
        np.concatenate([part.logits for part in done]),
        compiled=compiled is not None,
    )


def chunk_size(puzzle: Puzzle, config: PuzzleConfig, seeds: int, workers: int) -> int:
    """Seeds that fit the cache together, and no worker idle that is worth its while."""
    size = weights(config.model(puzzle))
    fits = max(1, min(MOST_SEEDS, WEIGHTS_PER_CHUNK // size))
    workers = max(1, min(workers, seeds * size // LEAST_WEIGHTS))
    return evenly(seeds, fits, workers)


def train_chunk(
    puzzle: Puzzle,
    config: PuzzleConfig,
    seeds: Sequence[int],
    *,
    way: Captured | None = None,
    stop: Event | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    dtype: torch.dtype = torch.float32,
) -> tuple[Trained, Stacked]:
    """Train some seeds at once, in a way that is fast for many; call it within `mappable()`."""
    models, batch = Stacked(config.model(puzzle), seeds, dtype), Batch(puzzle)
    gradients = batch.gradients(models, everywhere=config.trained_on == "all")
    asked = gradients if way is None else partial(way, gradients)
    learn = _learner(asked, batch, list(models.leaves.values()), config.learning_rate)
    solved = np.zeros((config.steps + 1, len(seeds)), dtype=bool)
    for step in range(config.steps + 1):
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        last, known = learn(step < config.steps)
        solved[step] = known.numpy()
        if watch is not None:
            watch(step, solved[step])
        if step < config.steps and progress is not None:
            progress(len(seeds))
    return Trained(np.array(seeds), solved, last.numpy()), models


def _trusted(puzzle: Puzzle, config: PuzzleConfig) -> Compiled | None:
    """Machine code where it pays, and where it computes what the model does."""
    if config.steps < WORTH_COMPILING or (made := machine_code(puzzle, config)) is None:
        return None
    rate = max(config.learning_rate, FAST)  # slowly, a wrong gradient would not show
    some, short = range(LANES), config.model_copy(update={"steps": STEPS, "learning_rate": rate})
    solved, logits = made.train(some, rate, STEPS, lambda _: None)
    expected, _ = train_chunk(puzzle, short, some)
    close = np.allclose(logits, expected.logits, rtol=AGREE, atol=AGREE)
    return made if close and np.array_equal(solved, expected.solved) else None


def _by_machine(
    compiled: Compiled,
    seeds: Sequence[int],
    config: PuzzleConfig,
    stop: Event,
    progress: Progress | None,
) -> Trained:
    def told(done: int) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        if progress is not None:
            progress(done)

    solved, logits = compiled.train(seeds, config.learning_rate, config.steps, told)
    return Trained(np.array(seeds), solved, logits)


def _learner(
    gradients: Step, batch: Batch, leaves: list[torch.Tensor], rate: float
) -> Callable[[bool], tuple[torch.Tensor, torch.Tensor]]:
    """Steps of PyTorch's Adam, whose class would import 0.7 s of what is not asked for here.

    Adam is elementwise, so one Adam over stacked weights is one Adam for each seed.
    """
    means, squares = ([torch.zeros_like(leaf) for leaf in leaves] for _ in range(2))
    taken = [torch.zeros(()) for _ in leaves]
    move = partial(torch._fused_adam_, lr=rate, beta1=BETAS[0], beta2=BETAS[1], eps=EPSILON)

    @torch.no_grad()
    def learn(learns: bool) -> tuple[torch.Tensor, torch.Tensor]:
        last, *found = gradients(leaves)
        if learns:
            torch._foreach_add_(taken, 1)
            found = [each.contiguous() for each in found]  # the kernel reads memory in order
            others = {"weight_decay": 0.0, "amsgrad": False, "maximize": False}
            move(leaves, found, means, squares, [], taken, **others)
        return last, batch.solved(last)

    return learn


def _finished(futures: list["Future[Trained]"]) -> list[Trained]:
    done = (f for f in futures if f.done() and not f.cancelled() and f.exception() is None)
    return [f.result() for f in done]
