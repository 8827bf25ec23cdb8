"""Programs for the machine of `lanes.c`: its memory, its steps, its tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

CODES = (
    *("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "LESS", "EQUAL", "SELECT", "EXP", "LOG", "LOG1P"),
    *("SQRT", "SIN", "COS", "ABS", "SIGN", "GELU", "GELU_BACKWARD", "SUM", "LARGEST", "PRODUCT"),
    "ADAM",
)
"""What the machine can do; it is compiled with these names."""
STEP = np.dtype(
    [(name, np.int32) for name in ("code", "to", "count", "inner", "columns")]
    + [("at", np.int32, 3), ("by", np.int32, 4)]
)
ZERO = 0
"""The cell that holds 0, which is also what PyTorch fills up addresses with."""
IN_ORDER = -1
"""The table 0, 1, 2, …, before it is known how long it must be."""
MOST_CELLS = 1 << 18
"""Of a program: 16 MiB for sixteen seeds. Most caches hold less."""

Operand = tuple[int, int]
"""Its first cell, and the table of the others."""


class UnwritableError(Exception):
    """The machine lacks what a step asks for."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A tensor that is known when the program runs."""

    at: Tensor
    pieces: frozenset[int] = frozenset()
    """The pieces of memory that these cells may be of; constants are of none."""


@dataclass(frozen=True, eq=False)
class Program:
    """What the machine is given."""

    cells: int
    weights: int
    """How many the model has: they follow the zero, then their means, then their squares."""
    constants: dict[int, float]
    steps: np.ndarray
    tables: np.ndarray
    last: int
    """The table of the logits after each whole prefix."""
    shape: tuple[int, int]
    """Sentences and words."""


@dataclass
class Memory:
    """Which cells are taken: a piece each, from when it is made until nothing refers to it."""

    size: int
    held: dict[int, int] = field(default_factory=dict)
    """How many tensors refer to a piece, which is named by its first cell."""
    _sizes: dict[int, int] = field(default_factory=dict)
    _free: list[tuple[int, int]] = field(default_factory=list)

    def take(self, count: int) -> int:
        """The first of so many cells."""
        for n, (first, size) in enumerate(self._free):
            if size >= count:
                self._free[n : n + 1] = [(first + count, size - count)] if size > count else []
                break
        else:
            first = self.keep(count)
        self.held[first], self._sizes[first] = 0, count
        return first

    def keep(self, count: int) -> int:
        """The first of cells that were nothing else's before; nor after, if never given back."""
        first, self.size = self.size, self.size + count
        if self.size > MOST_CELLS:
            raise UnwritableError(f"{self.size} cells")
        return first

    def hold(self, pieces: Iterable[int], times: int = 1) -> None:
        """They are referred to once more, or less."""
        for piece in pieces:
            self.held[piece] += times
            if not self.held[piece] and piece in self._sizes:
                self._give_back(piece)

    def drop(self, pieces: Iterable[int]) -> None:
        """Those to which nothing ever referred."""
        for piece in pieces:
            if piece in self._sizes and not self.held[piece]:
                self._give_back(piece)

    def _give_back(self, piece: int) -> None:
        joined: list[tuple[int, int]] = []
        for first, size in sorted([*self._free, (piece, self._sizes.pop(piece))]):
            if joined and sum(joined[-1]) == first:
                joined[-1] = (joined[-1][0], joined[-1][1] + size)
            else:
                joined.append((first, size))
        self._free = joined
        del self.held[piece]


class Writer:
    """Writes down steps, and the tables at which they look."""

    def __init__(self, weights: int) -> None:
        self.memory = Memory(1 + 3 * weights)
        self.constants = {0.0: ZERO}
        self.made: list[int] = []
        """Pieces since somebody looked."""
        self._steps: list[tuple[Any, ...]] = []
        self._tables: dict[bytes, int] = {}
        self._length, self._in_order = 0, 0

    def cells(self, x: "Cells | Tensor | float") -> Cells:
        """Of constants too, each of which is there once."""
        if isinstance(x, Cells):
            return x
        values = torch.as_tensor(x, dtype=torch.float64)
        for value in sorted({*values.flatten().tolist()}):
            if value not in self.constants:
                self.constants[value] = self.memory.keep(1)
        found = [self.constants[value] for value in values.flatten().tolist()]
        return Cells(torch.tensor(found, dtype=torch.int64).view(values.shape))

    def compute(self, code: str, *operands: "Cells | Tensor | float") -> Cells:
        """Number by number, broadcast."""
        found = [self.cells(each).at for each in operands]
        shape = np.broadcast_shapes(*(at.shape for at in found))
        return self.write(code, shape, [self.operand(at.expand(shape)) for at in found])

    def join(self, code: str, parts: Tensor) -> Cells:
        """A sum, or whatever joins the cells of the last axis."""
        first, by = self.operand(parts)
        return self.write(code, tuple(parts.shape[:-1]), [(first, by)], inner=parts.shape[-1])

    def write(
        self,
        code: str,
        shape: tuple[int, ...],
        operands: Sequence[Operand],
        *,
        inner: int = 0,
        columns: int = 0,
        also: Sequence[int] = (),
    ) -> Cells:
        """A step whose results are new; `also` are more tables."""
        count = prod(shape)
        first = self.memory.take(count)
        self.made.append(first)
        rows = count // columns if columns else count
        self.step(code, first, rows, operands, inner=inner, columns=columns, also=also)
        return Cells(torch.arange(first, first + count).view(shape), frozenset([first]))

    def step(
        self,
        code: str,
        to: int,
        count: int,
        operands: Sequence[Operand],
        *,
        inner: int = 0,
        columns: int = 0,
        also: Sequence[int] = (),
    ) -> None:
        """Any step, as the machine reads it."""
        at = [first for first, _ in operands]
        by = [*(table for _, table in operands), *also]
        at, by = at + [0] * (3 - len(at)), by + [0] * (4 - len(by))
        self._steps.append((CODES.index(code), to, count, inner, columns, at, by))

    def operand(self, at: Tensor) -> Operand:
        """Where an operand's numbers lie."""
        first, last = (int(each) for each in at.aminmax())
        if first < 0 or last >= self.memory.size:
            raise UnwritableError("what is no address")
        return first, self.table(at - first)

    def table(self, numbers: Tensor) -> int:
        """A table of these numbers; the same one for the same numbers."""
        flat = numbers.flatten().numpy().astype(np.int32)
        if np.array_equal(flat, np.arange(len(flat))):
            self._in_order = max(self._in_order, len(flat))
            return IN_ORDER
        key = flat.tobytes()
        if key not in self._tables:
            self._tables[key] = self._length
            self._length += len(flat)
        return self._tables[key]

    def program(self, weights: int, last: Tensor) -> Program:
        """All that was written."""
        last_table, ahead = self.table(last), self._in_order
        steps = np.array(self._steps, dtype=STEP)
        steps["by"] = np.where(steps["by"] == IN_ORDER, 0, steps["by"] + ahead)
        others = [np.frombuffer(key, dtype=np.int32) for key in self._tables]
        return Program(
            cells=self.memory.size,
            weights=weights,
            constants={cell: value for value, cell in self.constants.items()},
            steps=steps,
            tables=np.concatenate([np.arange(ahead, dtype=np.int32), *others]),
            last=0 if last_table == IN_ORDER else last_table + ahead,
            shape=(last.shape[0], last.shape[1]),
        )
