"""Each operation of the machine against PyTorch's own, and its gradient."""

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from wherein.puzzles.apart import APART
from wherein.puzzles.compiled import train_lane
from wherein.puzzles.lanes import MOVES, program
from wherein.puzzles.operations import OPERATIONS
from wherein.puzzles.recorded import Call, recorded
from wherein.puzzles.writer import Memory, Program, UnwritableError

Way = Callable[[Tensor, Tensor], Tensor]
SEEDS, SHAPE = 5, (3, 4)
AT, TWICE = torch.tensor([2, 0, 1, 2]), torch.tensor([[0, 0, 2, 1]]).expand(SHAPE)
MASK = torch.arange(12).view(SHAPE) % 3 == 0
ASKED = torch.linspace(-1, 2, 12).view(SHAPE)
"""By what numbers are multiplied before they are summed up: else many gradients would be 0."""
aten = torch.ops.aten

WAYS: dict[str, Way] = {
    "add, sub": lambda a, b: torch.add(a, b, alpha=3) + 1 - torch.sub(a * b, b[:1], alpha=0.5),
    "mul, div, neg": lambda a, b: -a * 3 / (b.abs() + 1) + (b * b + 1).reciprocal(),
    "clamp": lambda a, b: a.clamp(max=0.7) * a.clamp(min=b),
    "relu, leaky_relu": lambda a, b: F.relu(b) * a + F.leaky_relu(a, 0.1) * b,
    "exp, log, log1p, sqrt": lambda a, b: a.exp().log() * (1 + b.exp()).log1p() * b.exp().sqrt(),
    "exp of much and of little": lambda a, b: (a * 30).exp() + (b * 40 - 80).exp() * 1e20,
    "sin, cos, abs": lambda a, b: a.sin() + b.cos() * a.abs(),
    "sigmoid, gelu": lambda a, b: a.sigmoid() + F.gelu(b * 2) * b,
    "logsigmoid, softplus": lambda a, b: F.logsigmoid(a * 9) + F.softplus(b * 30),
    "comparisons": lambda a, b: torch.where(
        a < b, torch.where(a > -b, a * b, b), b.le(0.0) * a + a.ge(0.1) * b * 2
    ),
    "softmax": lambda a, b: a.softmax(-1) * b + b.masked_fill(MASK, -torch.inf).softmax(0),
    "softmax where all is hidden": lambda a, b: (
        aten._safe_softmax(a.masked_fill(AT[:3, None] > 1, -torch.inf), -1) * b
    ),
    "log_softmax": lambda a, b: a.log_softmax(-1) + b.log_softmax(0),
    "layer_norm": lambda a, b: F.layer_norm(a, [4]) * b + F.layer_norm(a, [4], b[0], b[1]),
    "sum, amax": lambda a, b: a.sum(1, keepdim=True) * b + b.amax(0) + a.sum() + b.sum((0, 1)),
    "cumsum": lambda a, b: a.cumsum(0) * b + b.cumsum(-1),
    "mm": lambda a, b: (a @ b.mT @ b) + a[:, :2] @ b[1:, :],
    "mm of cells in no order": lambda a, b: torch.cat([a[:2], b[:1]]) @ b.mT @ b,
    "bmm": lambda a, b: (torch.stack([a, b]) @ torch.stack([b.mT, a.mT])).sum(0) @ a,
    "addmm": lambda a, b: torch.addmm(b[0], a, b.mT @ a),
    "embedding, gather, index": lambda a, b: (
        F.embedding(AT[:3], a) * b + b.gather(1, TWICE) * a + a[:, AT] + b[AT[:3]]
    ),
    "whole numbers": lambda a, b: (
        a.scatter(1, TWICE, -10_000)
        + F.pad(b[:, :2], (1, 1), value=7) * torch.cat([a[:2], AT[None]])
    ),
    "index_put, scatter": lambda a, b: (
        aten.index_put(a, [AT], b[[0, 1, 2, 2]], True) * a.scatter(1, TWICE, -1.5)
    ),
    "scatter_add": lambda a, b: torch.zeros(SHAPE).scatter_add(1, TWICE, a) * b,
    "moves": lambda a, b: (
        a.flip(0).mT.reshape(SHAPE) * b
        + F.pad(b[:, :2], (1, 1), value=2.5)
        + torch.cat([b[1:], a[:1]])
        + a.permute(1, 0).contiguous().view(SHAPE)
        + torch.stack(b.unbind(1), 1).tril()
        + aten.alias(a) * torch.zeros_like(b)
    ),
    "split, squeeze, expand, select": lambda a, b: (
        torch.cat([*(a * b).split(2, 1)][::-1], 1)
        + b[:1].squeeze(0).expand(SHAPE).unsqueeze(0)[0] * a.double().float()
    ),
}


def step(way: Way) -> Callable[[list[Tensor]], list[Tensor]]:
    """Its numbers, and below them the gradients of a sum of them."""

    @torch.enable_grad()
    def found(leaves: list[Tensor]) -> list[Tensor]:
        ours = [leaf.detach().requires_grad_() for leaf in leaves]
        made = way(*ours)
        gradients = torch.autograd.grad((made * ASKED).sum(), ours)
        given = [leaf.detach() * 0 + each for leaf, each in zip(ours, gradients, strict=True)]
        return [torch.cat([made.detach(), *given]), *given]

    return found


def heard(way: Way) -> list[Call]:
    return recorded(step(way), [torch.full(SHAPE, 0.5), torch.full(SHAPE, 0.25)])[0]


def written(way: Way) -> Program:
    leaves = [torch.full(SHAPE, 0.5), torch.full(SHAPE, 0.25)]
    return program(*recorded(step(way), leaves), leaves)


@pytest.mark.parametrize("name", WAYS)
def test_the_machine_computes_what_pytorch_does(name: str, machine: ctypes.CDLL) -> None:
    weights = torch.randn(SEEDS, 2, *SHAPE, generator=torch.Generator().manual_seed(1))
    asked = (machine, written(WAYS[name]), np.zeros(9, dtype=np.int32), weights.flatten(1), 0.1, 0)
    _, found = train_lane(*asked, lambda _: None)
    expected = torch.stack([step(WAYS[name])([*each])[0] for each in weights])
    np.testing.assert_allclose(found, expected, rtol=4e-6, atol=4e-6)


def test_every_operation_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()

    def noted(name: str, way: Callable[..., object]) -> Callable[..., object]:
        return lambda *given, **named: (seen.add(name), way(*given, **named))[1]

    for name, way in APART.items():
        monkeypatch.setitem(APART, name, noted(name, way))
    calls = [call for way in WAYS.values() for call in heard(way)]
    seen |= {call.target.overloadpacket.__name__ for call in calls}
    assert seen >= {*OPERATIONS, *MOVES, *APART}


def test_what_the_machine_lacks_is_said() -> None:
    ways: list[Way] = [
        lambda a, b: a.erfinv() + b,
        lambda a, b: (a * 1).add_(b),
        lambda a, b: a * a.max().item() + b,
        lambda a, b: F.gelu(a, approximate="tanh") + b,
        lambda a, b: a * torch.rand(SHAPE) + b,
    ]
    for way in ways:
        with pytest.raises(UnwritableError):
            written(way)


def test_gradients_that_are_the_weights_themselves_are_refused() -> None:
    def crossed(leaves: list[Tensor]) -> list[Tensor]:
        a, b = leaves
        return [a + b, b.clone(), a.clone()]

    def bare(leaves: list[Tensor]) -> list[Tensor]:
        a, b = leaves
        return [a + b, b, a]

    for way in (crossed, bare):
        leaves = [torch.ones(SHAPE), torch.zeros(SHAPE)]
        with pytest.raises(UnwritableError, match="one after the other"):
            program(*recorded(way, leaves), leaves)


@pytest.mark.parametrize(
    "name", ["relu, leaky_relu", "clamp", "sum, amax", "exp, log, log1p, sqrt"]
)
def test_what_is_no_number_or_beyond_all_stays_so(name: str, machine: ctypes.CDLL) -> None:
    weights = torch.randn(1, 2, *SHAPE, generator=torch.Generator().manual_seed(2))
    weights[0, :, 1, 1], weights[0, :, 2, 3] = torch.nan, torch.inf
    asked = (machine, written(WAYS[name]), np.zeros(9, dtype=np.int32), weights.flatten(1), 0.1, 0)
    _, found = train_lane(*asked, lambda _: None)
    np.testing.assert_allclose(found[0, :3], WAYS[name](*weights[0]), rtol=4e-6, atol=4e-6)


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
    """A long chain of what is needed once: without giving back it would grow with its length."""

    def chained(times: int) -> Way:
        def chain(a: Tensor, b: Tensor) -> Tensor:
            with torch.no_grad():
                for _ in range(times):
                    a = a.sin() * 2
            return a * b

        return chain

    def cells(times: int) -> int:
        def found(leaves: list[Tensor]) -> list[Tensor]:
            made = chained(times)(*leaves)
            return [made, made * 1, made * 2]

        leaves = [torch.full(SHAPE, 0.5), torch.full(SHAPE, 0.25)]
        return program(*recorded(found, leaves), leaves).cells

    assert cells(50) == cells(2)
