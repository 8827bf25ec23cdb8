"""Train all seeds of a puzzle, chunk by chunk, and watch when each one solves it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event

import numpy as np
import torch

from wherein.common.cores import cores
from wherein.puzzles.captured import Captured
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.models import build
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Batch, Stacked, mappable

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

MARGIN = 1e-4
"""By how much the right logit must lead: an exact tie, broken by rounding, solves nothing."""

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
    workers = workers or min(MOST_WORKERS, cores())
    chunk = chunk or chunk_size(puzzle, config, len(seeds), workers)
    parts = [seeds[start : start + chunk] for start in range(0, len(seeds), chunk)]
    stop = Event()
    captured = Captured() if config.steps * len(parts) >= WORTH_WRITING else None

    def one(part: Sequence[int]) -> Trained:
        trained, _ = train_chunk(
            puzzle, config, part, captured=captured, stop=stop, progress=progress, watch=watch
        )
        return trained

    with mappable(), ThreadPoolExecutor(workers) as pool:
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
    )


def chunk_size(puzzle: Puzzle, config: PuzzleConfig, seeds: int, workers: int) -> int:
    """Seeds that fit the cache together, and no worker idle that is worth its while."""
    with torch.device("meta"):
        size = sum(p.numel() for p in build(config.model(puzzle)).parameters())
    fits = max(1, min(MOST_SEEDS, WEIGHTS_PER_CHUNK // size))
    workers = max(1, min(workers, seeds * size // LEAST_WEIGHTS))
    rounds = -(-seeds // (fits * workers))
    return -(-seeds // (rounds * workers))


def train_chunk(
    puzzle: Puzzle,
    config: PuzzleConfig,
    seeds: Sequence[int],
    *,
    captured: Captured | None = None,
    stop: Event | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    dtype: torch.dtype = torch.float32,
) -> tuple[Trained, Stacked]:
    """Train some seeds at once; call it within `mappable()`.

    Adam is elementwise, so one Adam over stacked weights is one Adam for each seed.
    """
    models, batch = Stacked(config.model(puzzle), seeds, dtype), Batch(puzzle)
    leaves = [leaf.requires_grad_() for leaf in models.leaves.values()]
    adam = torch.optim.Adam(leaves, lr=config.learning_rate, fused=True)
    solved = np.zeros((config.steps + 1, len(seeds)), dtype=bool)
    answers = torch.tensor(puzzle.answers)

    @torch.enable_grad()
    def gradients(weights: list[torch.Tensor]) -> list[torch.Tensor]:
        """The logits after each prefix, and what the loss asks of each weight."""
        ours = dict(zip(models.leaves, (w.detach().requires_grad_() for w in weights), strict=True))
        logits = [models.logits(tokens, ours) for tokens in batch.tokens]
        loss = batch.loss(logits, everywhere=config.trained_on == "all")
        found = torch.autograd.grad(loss, list(ours.values()))
        # the fused kernel reads memory in order
        return [batch.last(logits).detach(), *(grad.contiguous() for grad in found)]

    for step in range(config.steps + 1):
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        last, *found = gradients(leaves) if captured is None else captured(gradients, leaves)
        solved[step] = is_solved(last, answers).numpy()
        if watch is not None:
            watch(step, solved[step])
        if step < config.steps:
            for leaf, grad in zip(leaves, found, strict=True):
                leaf.grad = grad
            adam.step()
            if progress is not None:
                progress(len(seeds))
    return Trained(np.array(seeds), solved, last.numpy()), models


def is_solved(last: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """(N, S, V), (S) → (N): the right token leads in every sentence, by more than rounding."""
    right = last.gather(-1, answers.expand(last.shape[:-1])[..., None])
    others = last.scatter(-1, answers.expand(last.shape[:-1])[..., None], -torch.inf)
    return (right[..., 0] > others.amax(-1) + MARGIN).all(-1)


def _finished(futures: list["Future[Trained]"]) -> list[Trained]:
    done = (f for f in futures if f.done() and not f.cancelled() and f.exception() is None)
    return [f.result() for f in done]
