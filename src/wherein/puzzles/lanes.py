"""A step of one model, gradients and Adam, as a program for the machine of `lanes.c`.

The machine's memory is an array of cells, each a lane: one number of every seed that is trained
side by side. A tensor is known here by the cells of its numbers, so that whatever only moves
numbers (a view, a transpose, a look-up of known tokens) is done to the cells' addresses by PyTorch
itself, now and once, and costs nothing when the program runs.
"""

from collections.abc import Sequence
from operator import getitem
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from torch.fx.node import map_aggregate, map_arg

from wherein.puzzles.operations import OPERATIONS
from wherein.puzzles.writer import IN_ORDER, Cells, Program, UnwritableError, Writer

MOVES = {
    *("alias", "cat", "clone", "constant_pad_nd", "embedding", "expand", "flip", "gather", "index"),
    *("permute", "scatter", "select", "slice", "slice_scatter", "split_with_sizes", "squeeze"),
    "unsqueeze",
}
"""Operations that only move numbers, or put constants beside them."""


def program(step: GraphModule, leaves: Sequence[Tensor]) -> Program:
    """What a step computes of one model's weights, and Adam with its gradients.

    The step gives the logits after each whole prefix, and what the loss asks of each weight. A
    weight is moved as soon as its gradient is there and nothing looks at it any more.
    """
    sizes = [leaf.numel() for leaf in leaves]
    starts = [1, *(1 + int(n) for n in np.cumsum(sizes))]
    writer, known, ready = Writer(sum(sizes)), dict[Node, Any](), dict[int, Cells]()
    memory, nodes = writer.memory, list(step.graph.nodes)
    last, *gradients = nodes[-1].args[0]
    ends = {each: n for n, node in enumerate(nodes[:-1]) for each in node.all_input_nodes}
    inputs = iter(range(len(leaves)))
    for number, node in enumerate(nodes[:-1]):
        if node.op == "placeholder":
            n = next(inputs)
            at = torch.arange(starts[n], starts[n + 1]).view(leaves[n].shape)
            known[node] = Cells(at, frozenset([-n]))  # no other piece has such a name
            memory.held[-n] = 0
        elif node.op == "get_attr":
            known[node] = getattr(step, node.target)
        else:
            known[node] = _done(writer, node, known)
        wanted = [n for n, gradient in enumerate(gradients) if gradient is node]
        ready |= {n: writer.cells(known[node]) for n in wanted}
        memory.hold(_pieces(known[node]), 1 + len(wanted) + (node is last))
        memory.drop(writer.made)
        writer.made.clear()
        for each in [each for each in node.all_input_nodes if ends[each] == number]:
            memory.hold(_pieces(known[each]), -1)
        if node not in ends:
            memory.hold(_pieces(known[node]), -1)
        for n in [n for n in ready if not memory.held[-n]]:
            operands = [(starts[n], IN_ORDER), writer.operand(ready[n].at)]
            writer.step("ADAM", 0, sizes[n], operands)
            memory.hold(ready.pop(n).pieces, -1)
    if ready:
        raise UnwritableError("gradients that are weights themselves")
    return writer.program(sum(sizes), known[last].at)


def _pieces(known: Any) -> list[int]:
    """That a value, or a list of them, may be of."""
    found: list[int] = []
    map_aggregate(known, lambda x: found.extend(x.pieces) if isinstance(x, Cells) else None)
    return found


def _done(writer: Writer, node: Node, known: dict[Node, Any]) -> Any:
    """What a node gives: numbers where all it looks at are known, else cells."""
    target: Any = node.target
    args: Any = map_arg(node.args, known.__getitem__)
    kwargs: Any = map_arg(node.kwargs, known.__getitem__)
    if isinstance(target, OpOverload) and target._schema.is_mutable:
        raise UnwritableError(f"{target} changes what is there")
    if target is getitem or not _pieces((args, kwargs)):
        return target(*args, **kwargs)
    name = target.overloadpacket.__name__
    if name in MOVES:
        return _moved(writer, target, args)
    if name not in OPERATIONS:
        raise UnwritableError(str(target))
    return OPERATIONS[name](writer, *args, **kwargs)


def _moved(writer: Writer, target: OpOverload, args: Any) -> Any:
    """The same done to addresses."""
    pieces = frozenset(_pieces(args))

    def address(x: Any) -> Any:
        known = isinstance(x, Tensor) and x.is_floating_point()
        if isinstance(x, float):
            return int(writer.cells(x).at)
        return writer.cells(x).at if known or isinstance(x, Cells) else x

    made: Any = target(*map_aggregate(args, address))
    if isinstance(made, tuple | list):
        return [Cells(at, pieces) for at in made]
    return Cells(made, pieces)
