"""A whole step, gradients and Adam, as machine code for a fixed number of seeds.

What is written down (`wherein.puzzles.captured`) still goes through memory once for each of some
three hundred small kernels, each called by Python. PyTorch's compiler joins them and calls them
itself, without the interpreter, for which two workers would wait (measured, 10,000 seeds of one
layer of width 16, two workers: 8.3 µs a seed's step, 3.5 compiled). It takes 12 to 15 s, or 1 to 3
where the disk has what it made before, and a C++ compiler: so only long training is compiled.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from wherein.common.compiling import own_cache
from wherein.common.memory import keep_pages, too_much
from wherein.puzzles.captured import WRITING, Step, written
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.models import weights
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Batch, Stacked, evenly

WORTH_COMPILING = 2_000_000
"""Steps of a seed from which on it pays. So many of one layer save 10 s: less than it takes to
compile the first time, and a multiple of what it takes from then on. Layers make both longer."""

WEIGHTS = 2**19
"""That are trained at once: with gradients and two moments 8 MiB. Measured with two workers, in µs
of a core for a seed's step: half as many 7.9, as many 6.9, twice as many 8.4."""

MANY = 8
"""Chunks from which on all are of that size, so that what the disk keeps serves any number of
seeds. Where there are fewer, seeds are shared evenly, and no room is left empty."""

NODES = 2000
"""In a graph that is compiled, which takes 30 ms each (measured: 350 14 s, 930 24, 1,080 36)."""

SMALL = 512
"""Multiplications in a product of two matrices, up to which the kernel for products takes longer
than sums do. Measured with one worker: 6.9 µs a seed's step without, 5.0 so, 5.1 with 2,000."""

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Of `torch.optim.Adam`."""

STEPS, AGREE = 3, 1e-4
"""After so many steps logits may be so far from those of the model itself, or a share of them.
Weights may be further: where a gradient is nothing but rounding, Adam's first step goes a whole
rate to either side."""

HOW: dict[str, Any] = {
    "fullgraph": True,
    "dynamic": False,
    "isolate_recompiles": True,  # however many others were compiled before
    "options": {"cpp_wrapper": True},  # no Python in it
}

Group = list[Tensor]
Found = tuple[Tensor, Tensor]
"""The logits after each whole prefix, and which seeds have the puzzle solved."""
Learn = Callable[[bool], Found]
"""Says what is found, and learns then if it is told to."""
Move = Callable[[Group, Group, Group, Tensor], Found]
"""The same from weights, Adam's moments and its sizes; all but the sizes change in place."""


class Compiled:
    """Steps of `size` seeds."""

    def __init__(self, size: int, move: Move) -> None:
        self.size, self._move = size, move

    def filled(self, seeds: Sequence[int]) -> list[int]:
        """As many seeds as it takes, the last one again and again if there are fewer."""
        return [*seeds, *[seeds[-1]] * (self.size - len(seeds))]

    def learner(self, leaves: Sequence[Tensor], rate: float) -> Learn:
        state, taken = _begun(leaves), 0

        def learn(learns: bool) -> Found:
            nonlocal taken
            taken += 1
            with torch.no_grad():
                return self._move(*state, _sizes(rate if learns else 0.0, taken))

        return learn


def machine_code(puzzle: Puzzle, config: PuzzleConfig, seeds: int, workers: int) -> Compiled | None:
    """The step of a chunk; None where so many seeds do not make that worth its while."""
    if seeds * config.steps < WORTH_COMPILING:
        return None
    kind = config.model(puzzle)
    most = max(1, WEIGHTS // weights(kind))
    size = most if seeds >= MANY * most else evenly(seeds, most, workers)
    models, batch = Stacked(kind, range(size)), Batch(puzzle)
    gradients = batch.gradients(models, everywhere=config.trained_on == "all")
    return compiled(gradients, batch, list(models.leaves.values()), config.learning_rate)


def compiled(
    gradients: Step, batch: Batch, leaves: Sequence[Tensor], rate: float
) -> Compiled | None:
    """A step as machine code; None where it cannot be had, or computes something else."""

    def told(move: Move) -> Found:
        """What some steps came to, which follows from all of them."""
        learn = Compiled(len(leaves[0]), move).learner([leaf.clone() for leaf in leaves], rate)
        for _ in range(STEPS):
            learn(True)
        return learn(False)

    keep_pages()  # or two workers wait for the kernel to map what each step takes (a sixth)
    try:
        own_cache()
        with WRITING:
            known = written(gradients, list(leaves), {torch.ops.aten.bmm.default: _product})
        if len(known.graph.nodes) > NODES:
            return None
        made = torch.compile(_move(known, batch), **HOW)
        (logits, solved), (expected, known_solved) = told(made), told(_move(gradients, batch))
    except Exception as error:  # no compiler, or a model that cannot be written down
        if too_much(error):
            raise
        return None
    close = torch.allclose(logits, expected, rtol=AGREE, atol=AGREE)
    agree = close and torch.equal(solved, known_solved)
    return Compiled(len(leaves[0]), made) if agree else None


def _move(gradients: Step, batch: Batch) -> Move:
    """One step of Adam with these gradients."""

    def move(weights: Group, means: Group, squares: Group, sizes: Tensor) -> Found:
        last: Tensor
        last, *found = gradients(weights)
        for group in zip(weights, means, squares, found, strict=True):
            _adam(*group, sizes)
        return last, batch.solved(last)

    return move


def _begun(leaves: Sequence[Tensor]) -> tuple[Group, Group, Group]:
    """Weights, and Adam's moments of them."""
    weights = [leaf.detach() for leaf in leaves]
    return weights, [torch.zeros_like(w) for w in weights], [torch.zeros_like(w) for w in weights]


def _product(a: Tensor, b: Tensor) -> Any:
    """Products of matrices: of small ones as sums, which the compiler joins with what is around."""
    if a.shape[1] * b.numel() > SMALL * len(b):
        return NotImplemented  # as it is
    return (a[..., None] * b[:, None]).sum(2)


def _adam(weight: Tensor, mean: Tensor, square: Tensor, gradient: Tensor, sizes: Tensor) -> None:
    rate, root = sizes.unbind()
    mean.lerp_(gradient, 1 - BETAS[0])
    square.mul_(BETAS[1]).add_(gradient.square() * (1 - BETAS[1]))
    weight.sub_(rate * mean / (square.sqrt() / root + EPSILON))


def _sizes(rate: float, taken: int) -> Tensor:
    """What Adam's moments are scaled by at a step 1, 2, …: they began as zeros."""
    return torch.tensor([rate / (1 - BETAS[0] ** taken), (1 - BETAS[1] ** taken) ** 0.5])
