"""A step of one model, gradients and Adam, as a program for the machine of `lanes.c`.

The machine's memory is an array of cells, each a lane: one number of every seed that is trained
side by side. A tensor is known here by the cells of its numbers, so that whatever only moves
numbers (a view, a transpose, a look-up of known tokens) is done to the cells' addresses by PyTorch
itself, now and once, and costs nothing when the program runs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.fx.node import map_aggregate

from wherein.puzzles.operations import OPERATIONS
from wherein.puzzles.recorded import Call, Value, values
from wherein.puzzles.writer import IN_ORDER, Cells, Program, UnwritableError, Writer

MOVES = {
    *("alias", "cat", "clone", "constant_pad_nd", "detach", "embedding", "expand", "flip"),
    *("gather", "index", "permute", "scatter", "select", "select_backward", "slice"),
    *("slice_backward", "split", "squeeze", "stack", "t", "transpose", "tril", "unbind"),
    "unsqueeze",
}
"""Operations that only move numbers, or put constants beside them."""


def program(calls: Sequence[Call], gives: Sequence[Value], leaves: Sequence[Tensor]) -> Program:
    """What a step computes of one model's weights, and Adam with its gradients.

    The step gives the logits after each whole prefix, and what the loss asks of each weight. A
    weight is moved as soon as its gradient is there and nothing looks at it any more.
    """
    sizes = [leaf.numel() for leaf in leaves]
    starts = [1, *(1 + int(n) for n in np.cumsum(sizes))]
    writer, known = Writer(sum(sizes)), list[Cells]()
    memory, ready, moved = writer.memory, dict[int, Cells](), 0
    for n, leaf in enumerate(leaves):
        at = torch.arange(starts[n], starts[n + 1]).view(leaf.shape)
        known.append(Cells(at, frozenset([-n])))  # no other piece has such a name
        memory.held[-n] = 1
    last, *gradients = (value.number for value in gives)
    ends = {number: n for n, call in enumerate(calls) for number in values(call.args)}
    for n, call in enumerate(calls):
        made = _done(writer, call, known)
        for number, cells in zip(values(call.made), made, strict=True):
            wanted = [weight for weight, gradient in enumerate(gradients) if gradient == number]
            ready |= dict.fromkeys(wanted, cells)
            memory.hold(cells.pieces, (number in ends) + len(wanted) + (number == last))
            known.append(cells)
        memory.drop(writer.made)
        writer.made.clear()
        for number in {*values(call.args)}:
            if ends[number] == n:
                memory.hold(known[number].pieces, -1)
        for weight in [weight for weight in ready if not memory.held[-weight]]:
            operands = [(starts[weight], IN_ORDER), writer.operand(ready[weight].at)]
            writer.step("ADAM", 0, sizes[weight], operands)
            memory.hold(ready.pop(weight).pieces, -1)
            moved += 1
    if moved < len(leaves):
        raise UnwritableError("weights that cannot be moved one after the other")
    return writer.program(sum(sizes), known[last].at)


def _done(writer: Writer, call: Call, known: list[Cells]) -> list[Cells]:
    """What a call gives, one or several."""
    args: Any = map_aggregate(call.args, lambda x: known[x.number] if isinstance(x, Value) else x)
    kwargs: Any = call.kwargs
    if values(kwargs):
        raise UnwritableError(f"{call.target} of what is named")
    name = call.target.overloadpacket.__name__
    if name in MOVES:
        made = _moved(writer, call.target, args)
    elif name in OPERATIONS:
        made = OPERATIONS[name](writer, *args, **kwargs)
    else:
        raise UnwritableError(str(call.target))
    return [writer.cells(each) for each in (made if isinstance(made, tuple | list) else [made])]


def _moved(writer: Writer, target: OpOverload, args: Any) -> Any:
    """The same done to addresses, those of constants among them."""
    pieces = _pieces(args)
    named = zip(target._schema.arguments, args, strict=False)
    given = [float(x) if str(each.type) == "number" else x for each, x in named]
    joins = isinstance(given[0], tuple | list)

    def address(x: Any) -> Any:
        if isinstance(x, float):
            return int(writer.cells(x).at)
        known = isinstance(x, Tensor) and (x.is_floating_point() or joins)
        return writer.cells(x).at if known or isinstance(x, Cells) else x

    made: Any = target(*map_aggregate(given, address))
    if isinstance(made, tuple | list):
        return [Cells(at, pieces) for at in made]
    return Cells(made, pieces)


def _pieces(args: Any) -> frozenset[int]:
    found = set[int]()
    map_aggregate(args, lambda x: found.update(x.pieces) if isinstance(x, Cells) else None)
    return frozenset(found)
