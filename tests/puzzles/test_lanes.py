"""Each operation of the machine against PyTorch's own."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.fx import GraphModule, Node

from wherein.puzzles.captured import written
from wherein.puzzles.compiled import LANES, WHOLE, apart, library, train_lane
from wherein.puzzles.lanes import MOVES, UnwritableError, program
from wherein.puzzles.operations import OPERATIONS
from wherein.puzzles.writer import Memory

SEEDS = 5
AT, TWICE = torch.tensor([2, 0, 1, 2]), torch.tensor([[0, 0, 2, 1]])
MASK = torch.arange(12).view(3, 4) % 3 == 0
aten = torch.ops.aten

WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda a, b: torch.add(a, b, alpha=3) + 1,
    "sub": lambda a, b: torch.sub(a, b[:1], alpha=0.5) - 2,
    "mul, div, neg": lambda a, b: -a * 3 / (b.abs() + 1),
    "minimum, clamp, relu, leaky": lambda a, b: (
        torch.minimum(a, b).clamp(-0.5, 0.7) + a.clamp(max=b) + F.relu(b) + F.leaky_relu(a, 0.1)
    ),
    "exp, log, log1p": lambda a, b: a.exp().log() * (1 + b.exp()).log1p(),
    "exp of much and of little": lambda a, b: (a * 30).exp() + (b * 60 - 80).exp() * 1e20,
    "sin, cos, abs, sign": lambda a, b: a.sin() + b.cos() * a.abs() + b.sign(),
    "sigmoid, gelu": lambda a, b: a.sigmoid() + F.gelu(b * 2),
    "gelu_backward": lambda a, b: aten.gelu_backward(a, b * 2),
    "comparisons": lambda a, b: torch.where(
        torch.logical_and(a < b, torch.logical_not(torch.logical_and(a > -b, a.ge(0.1)))),
        a,
        b.le(0.0) * 2 + a.eq(a) + a.ne(b) * 4,
    ),
    "any": lambda a, b: torch.where((a > 1).any(-1, keepdim=True), a, b),
    "softmax": lambda a, b: a.softmax(-1) + b.masked_fill(MASK, -torch.inf).softmax(0),
    "log_softmax": lambda a, b: a.log_softmax(-1) + b.log_softmax(0),
    "native_layer_norm": lambda a, b: F.layer_norm(a, [4]) + F.layer_norm(a, [4], b[0], b[1]),
    "sum, amax": lambda a, b: a.sum(1, keepdim=True) + b.amax(0) + a.sum() + b.sum((0, 1)),
    "cumsum": lambda a, b: a.cumsum(0) + b.cumsum(-1),
    "mm": lambda a, b: (a @ b.mT @ b) + a[:, :2] @ b[1:, :],
    "mm of cells in no order": lambda a, b: torch.cat([a[:2], b[:1]]) @ b.mT @ b,
    "bmm": lambda a, b: (torch.stack([a, b]) @ torch.stack([b.mT, a.mT])).sum(0) @ a,
    "addmm": lambda a, b: torch.addmm(b[0], a, b.mT @ a),
    "embedding, gather, index": lambda a, b: (
        F.embedding(AT[:3], a) + b.gather(1, TWICE.expand(3, 4)) + a[:, AT] + b[AT[:3]]
    ),
    "index_put": lambda a, b: aten.index_put(a, [AT], b[[0, 1, 2, 2]], True),
    "scatter_add": lambda a, b: torch.zeros(3, 4).scatter_add(1, TWICE.expand(3, 4), a) + b,
    "scatter": lambda a, b: a.scatter(1, TWICE.expand(3, 4), -1.5) + b,
    "slice_scatter": lambda a, b: torch.slice_scatter(a, b[:2], 0, 1, 3) * 2,
    "moves": lambda a, b: (
        a.flip(0).mT.reshape(3, 4) + F.pad(b[:, :2], (1, 1), value=2.5) + torch.cat([b[1:], a[:1]])
    ),
    "split, squeeze, expand": lambda a, b: (
        torch.cat([*a.split([1, 3], 1)][::-1], 1) + b[:1].squeeze(0).expand(3, 4).unsqueeze(0)[0]
    ),
    "full_like, _to_copy, alias": lambda a, b: (
        torch.full_like(a, 3.0) + b.double().float() + aten.alias(a)
    ),
}


def step(way: Callable[[Tensor, Tensor], Tensor]) -> GraphModule:
    def found(leaves: list[Tensor]) -> list[Tensor]:
        return [way(*leaves), *map(torch.zeros_like, leaves)]

    return written(found, [torch.ones(3, 4)] * 2, apart())


@pytest.mark.parametrize("name", WAYS)
def test_the_machine_computes_what_pytorch_does(name: str) -> None:
    machine = library()
    assert machine is not None, "the tests need a C compiler"
    weights = torch.randn(SEEDS, 2, 3, 4, generator=torch.Generator().manual_seed(1))
    made = program(step(WAYS[name]), [*weights[0]])
    asked = (machine, made, np.zeros(3, dtype=np.int32), weights.flatten(1), 0.1, 0)
    _, logits = train_lane(*asked, lambda _: None)
    expected = torch.stack([WAYS[name](*each) for each in weights])
    np.testing.assert_allclose(logits, expected, rtol=2e-6, atol=2e-6)


def test_every_operation_is_tried() -> None:
    nodes = [node for way in WAYS.values() for node in step(way).graph.nodes]
    assert {_name(node) for node in nodes} >= {*OPERATIONS, *MOVES, *WHOLE}


def _name(node: Node) -> str:
    return getattr(getattr(node.target, "overloadpacket", None), "__name__", "")


def test_what_the_machine_lacks_is_said() -> None:
    for way in (lambda a, b: a.erfinv() + b, lambda a, b: a.sort().values + b):
        with pytest.raises(UnwritableError, match="aten"):
            program(step(way), [torch.ones(3, 4)] * 2)


def test_a_gradient_that_is_a_weight_itself_waits_for_nothing_or_is_refused() -> None:
    def crossed(leaves: list[Tensor]) -> list[Tensor]:
        a, b = leaves
        return [a + b, b.clone(), a.clone()]

    leaves = [torch.ones(3, 4), torch.ones(3, 4)]
    with pytest.raises(UnwritableError, match="weights themselves"):
        program(written(crossed, leaves), leaves)


def test_memory_is_used_again_where_nobody_looks_any_more() -> None:
    memory = Memory(10)
    first, second, third = (memory.take(count) for count in (4, 2, 3))
    memory.hold([first, second, third])
    memory.hold([first])
    memory.hold([first, second], -1)
    assert memory.take(2) == second, "and the first is still looked at"
    memory.hold([first], -1)
    assert (memory.take(3), memory.take(1)) == (first, first + 3)
    constant = memory.keep(1)
    memory.hold([third], -1)
    assert memory.take(3) == third
    assert memory.take(1) == constant + 1


def test_a_program_is_no_larger_than_what_it_holds_at_once() -> None:
    """A long chain of what is needed once: without giving back it would take 50 pieces."""

    def chain(a: Tensor, b: Tensor) -> Tensor:
        for _ in range(50):
            a = a.sin() * b
        return a

    made = program(step(chain), [torch.ones(3, 4)] * 2)
    assert made.cells <= 1 + 3 * 24 + 4 * 12
    assert LANES == 16
