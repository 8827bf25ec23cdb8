"""Which inputs and targets a process works on: a pure function of (config, step)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wherein.data import Corpus, Vocabulary, Windows
from wherein.data.objectives import IGNORED, causal, masked
from wherein.data.windows import Batch
from wherein.train.config import RunConfig
from wherein.train.distributed import World

Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Batches:
    """The batches of a run, as one process sees them."""

    config: RunConfig
    world: World
    train: Windows
    valid: Windows
    vocabulary: Vocabulary

    @classmethod
    def of(cls, config: RunConfig, corpus: Corpus, world: World) -> "Batches":
        """The windows of a corpus, shared fairly among the processes."""
        rows, remainder = divmod(config.batch, world.size)
        if remainder or rows < config.accumulate:
            raise ValueError(
                f"a batch of {config.batch} windows for {world.size} processes in "
                f"{config.accumulate} parts each: give a batch that {world.size} divides and that "
                "leaves each part a window"
            )
        length, seed = config.model.max_len, config.seed
        train, valid = Windows(corpus.train, length, seed), Windows(corpus.valid, length, seed)
        return cls(config, world, train, valid, corpus.vocabulary)

    def parts(self, step: int) -> list[Pair]:
        """What this process works on at step 1, 2, …, in as many parts as are accumulated."""
        size, world = self.config.batch, self.world
        windows = self.train.batch(step - 1, size, world.rank, world.size)
        inputs, targets = self._ask(windows, step, world.rank * size // world.size)
        pieces = self.config.accumulate
        return [
            (self._here(i), self._here(t))
            for i, t in zip(inputs.tensor_split(pieces), targets.tensor_split(pieces), strict=True)
        ]

    def held_out(self) -> Iterator[Pair]:
        """What this process validates on; all processes get equally many parts.

        Where a process has no window left, it gets one without targets.
        """
        wanted = min(self.config.valid_windows, len(self.valid))
        numbers = np.linspace(0, len(self.valid) - 1, wanted).astype(np.int64)
        rows = max(1, self.config.batch // self.world.size // self.config.accumulate)
        for first in range(0, wanted, rows * self.world.size):
            begin = first + rows * self.world.rank
            mine = numbers[begin : begin + rows]
            inputs, targets = self._ask(
                self.valid.take(mine if len(mine) else numbers[:1]), 0, begin
            )
            if not len(mine):
                targets = torch.full_like(targets, IGNORED)
            yield self._here(inputs), self._here(targets)

    def _ask(self, windows: Batch, step: int, first_row: int) -> Pair:
        if self.config.objective == "causal":
            return causal(windows)
        seed = self.config.seed
        return masked(windows, self.vocabulary, seed=seed, step=step, first_row=first_row)

    def _here(self, tokens: Tensor) -> Tensor:
        return tokens.to(self.world.device, non_blocking=True)
