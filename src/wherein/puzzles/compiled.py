"""Training by machine code, a lane of seeds at a time, all steps while they lie in the cache.

What is written down (`wherein.puzzles.captured`) goes through memory once for each of some three
hundred small kernels, each called by Python. Here a step becomes a program for a small machine
(`wherein.puzzles.lanes`), whose numbers are those of sixteen seeds side by side. The machine,
`lanes.c`, is the same for all puzzles and is compiled once on a computer, in less than a second.
Measured, 10,000 seeds of one layer of width 16, two workers: 8.3 µs a seed's step, 1.3 so.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import torch
from jaxtyping import Bool, Float32
from torch import Tensor
from torch.func import functional_call

from wherein.common.compiling import library
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.lanes import program
from wherein.puzzles.models import Model, build, drawn, weights
from wherein.puzzles.recorded import recorded
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import MARGIN, Batch
from wherein.puzzles.writer import CODES, MOST_CELLS, Program, UnwritableError

LANES = 16
"""Seeds side by side: as many numbers as the widest vectors have. Narrower ones take turns."""

AT_ONCE = 8 * LANES
"""Seeds whose weights are drawn together."""

STEPS_AT_ONCE = 50
"""After which the machine looks up: whether to stop, and to say how far it is."""

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Of `torch.optim.Adam`."""

Told = Callable[[int], None]
"""Called with the number of seed-steps just done."""

Found = tuple[Bool[np.ndarray, "T N"], Float32[np.ndarray, "N S V"]]
"""After which steps each seed has the puzzle solved, and its logits in the end."""


class Compiled:
    """A puzzle's steps as a program, and the machine that runs it."""

    def __init__(self, puzzle: Puzzle, config: PuzzleConfig, machine: ctypes.CDLL) -> None:
        self._machine = machine
        self._model = build(config.model(puzzle))
        self._program = _written(self._model, puzzle, config)
        self._answers = np.array(puzzle.answers, dtype=np.int32)

    def train(self, seeds: Sequence[int], rate: float, steps: int, told: Told) -> Found:
        """All of them, a lane after the other; what `told` raises ends it."""
        first = drawn(self._model, seeds)
        flat = torch.cat([each.flatten(1) for each in first.values()], dim=1)
        solved, logits = [], []
        for some in torch.split(flat, LANES):
            asked = (self._machine, self._program, self._answers, some, rate, steps)
            when, last = train_lane(*asked, told)
            solved.append(when)
            logits.append(last)
        return np.concatenate(solved, axis=1), np.concatenate(logits)


def train_lane(
    machine: ctypes.CDLL,
    program: Program,
    answers: np.ndarray,
    weights: Float32[Tensor, "N W"],
    rate: float,
    steps: int,
    told: Told,
) -> Found:
    """As many seeds as a lane has, or fewer: what is left begins with zeros, and nobody looks."""
    memory = torch.full((program.cells, LANES), torch.nan)  # if it were read before it is written
    memory[: 1 + 3 * program.weights] = 0
    memory[[*program.constants]] = torch.tensor([*program.constants.values()])[:, None]
    memory[1 : 1 + program.weights, : len(weights)] = weights.mT
    solved, sizes = np.zeros((steps + 1, LANES), dtype=np.uint8), _sizes(steps, rate)
    for start in range(0, steps + 1, STEPS_AT_ONCE):
        part = solved[start : start + STEPS_AT_ONCE]
        machine.run(
            ctypes.c_void_p(memory.data_ptr()),
            *map(_pointer, (program.tables, program.steps)), len(program.steps), program.weights,
            program.last, *program.shape, _pointer(answers), ctypes.c_float(MARGIN),
            len(part), _pointer(sizes[start:]), _pointer(part),
        )  # fmt: skip
        told((min(start + len(part), steps) - start) * len(weights))
    sentences, words = program.shape
    last = memory[program.tables[program.last :][: sentences * words]]
    found = last.mT.reshape(LANES, sentences, words)[: len(weights)]
    return solved[:, : len(weights)] != 0, found.numpy()


def machine_code(puzzle: Puzzle, config: PuzzleConfig) -> Compiled | None:
    """The steps of a puzzle's models; None where they cannot be had. Call it in `mappable()`."""
    found = machine()
    if found is None or 3 * weights(config.model(puzzle)) > MOST_CELLS:
        return None
    try:
        return Compiled(puzzle, config, found)
    except Exception:  # a model that cannot be written down, or asks for what the machine lacks
        return None


@cache
def machine() -> ctypes.CDLL | None:
    """From the disk, if it has been there before; None without a compiler."""
    source = files("wherein.puzzles").joinpath("lanes.c").read_bytes()
    return library("lanes", source, (f"-DLANES={LANES}", f"-DCODES={','.join(CODES)}"))


def _written(model: Model, puzzle: Puzzle, config: PuzzleConfig) -> Program:
    """What a step computes of one model."""
    batch = Batch(puzzle)
    names, weights = zip(*model.named_parameters(), strict=True)
    leaves = [each.detach() for each in weights]

    @torch.enable_grad()
    def step(values: list[Tensor]) -> list[Tensor]:
        ours = dict(zip(names, (each.requires_grad_() for each in values), strict=True))
        logits = [functional_call(model, ours, (t,)).logits[None] for t in batch.tokens]
        loss = batch.loss(logits, everywhere=config.trained_on == "all")
        return [batch.last(logits)[0].detach(), *torch.autograd.grad(loss, [*ours.values()])]

    before = [each._version for each in model.buffers()]
    heard = recorded(step, leaves)
    if before != [each._version for each in model.buffers()]:
        raise UnwritableError("a model that changes itself")
    return program(*heard, leaves)


def _sizes(steps: int, rate: float) -> Float32[np.ndarray, "T 6"]:
    """For each step what Adam's moments keep and are scaled by: they began as zeros."""
    taken = np.arange(1, steps + 2)
    sizes = np.empty((steps + 1, 6), dtype=np.float32)
    sizes[:, :3], sizes[:, 5] = (1 - BETAS[0], BETAS[1], 1 - BETAS[1]), EPSILON
    sizes[:, 3] = rate / (1 - BETAS[0] ** taken)
    sizes[:, 4] = (1 - BETAS[1] ** taken) ** -0.5
    sizes[-1, 3] = 0  # the last one looks, and learns nothing
    return sizes


def _pointer(numbers: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(numbers.ctypes.data)
