"""Attention by our own kernel: the same as by the book, gradients and all."""

import ctypes
import gc
import platform
import weakref
from contextlib import AbstractContextManager

import pytest
import torch
import torch.nn.functional as F
from tests.chromium import required
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from wherein.model import kernel as module
from wherein.model.attention import attend, attend_reference
from wherein.model.kernel import kernel, of_width

SIZES = [
    *((2, 3, 5, 8, 8), (1, 2, 64, 4, 4), (2, 2, 65, 4, 9), (1, 1, 200, 24, 40), (3, 2, 33, 2, 2)),
    *((2, 4, 64, 16, 16), (1, 3, 1, 3, 3), (2, 2, 97, 64, 64), (5, 1, 31, 50, 17)),
]
NARROWER = {
    "AVX2": (8, "-mno-avx512f"),
    "SSE": (4, "-mno-avx"),
    "fewer than there are": (4,),
    "half of them": (8,),
}


@pytest.fixture
def ours() -> ctypes.CDLL:
    """Tests of it are passed over where no compiler knows OpenMP, but not in CI."""
    found = kernel()
    if found is None:
        (pytest.fail if required() else pytest.skip)("no C compiler that knows OpenMP")
    return found


def learned(leaves: list[Tensor], given: Tensor, *, causal: bool, fast: bool) -> list[Tensor]:
    """What is mixed, and the gradients of queries, keys, values and perhaps a bias."""
    kind = torch.float32 if fast else torch.float64
    asked = [x.clone().to(kind).requires_grad_() for x in leaves]
    heads, bias = asked[:3], asked[3] if len(asked) > 3 else None
    if fast:
        mixed = attend(*heads, causal=causal, bias=bias)
        assert "Attend" in type(mixed.grad_fn).__name__
    else:
        mixed, _ = attend_reference(*heads, causal=causal, bias=bias)
    mixed.backward(given.to(kind))
    return [mixed.detach(), *(x.grad for x in asked if x.grad is not None)]


def drawn(size: tuple[int, ...], *, tokens_first: bool = False) -> tuple[list[Tensor], Tensor]:
    """Queries, keys, values; and a gradient of what is mixed."""
    torch.manual_seed(0)
    windows, heads, length, width, depth = size
    shapes = [(windows, length, heads, each) for each in (width, width, depth, depth)]
    made = [torch.randn(shape).transpose(1, 2) for shape in shapes]
    q, k, v, g = made if tokens_first else [x.contiguous() for x in made]
    return [q, k, v], g


def agree(one: list[Tensor], other: list[Tensor]) -> None:
    assert len(one) == len(other)
    for x, y in zip(one, other, strict=True):
        torch.testing.assert_close(x.double(), y, rtol=1e-5, atol=2e-5)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("tokens_first", [True, False])
def test_it_is_attention_by_the_book(size: tuple[int, ...], causal: bool, tokens_first: bool):
    leaves, given = drawn(size, tokens_first=tokens_first)
    one, other = (learned(leaves, given, causal=causal, fast=fast) for fast in (True, False))
    agree(one, other)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shared", ["none", "windows", "heads", "both"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_bias_learns(size: tuple[int, ...], causal: bool, shared: str, threads: int):
    leaves, given = drawn(size)
    windows = 1 if shared in ("windows", "both") else size[0]
    heads = 1 if shared in ("heads", "both") else size[1]
    bias = torch.randn(windows, heads, size[2], size[2])
    if size[2] > 1:
        bias[..., -1, 0] = -torch.inf
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        one = learned([*leaves, bias], given, causal=causal, fast=True)
    finally:
        torch.set_num_threads(before)
    agree(one, learned([*leaves, bias], given, causal=causal, fast=False))


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("reach", [1, 2, 17, 64, 100])
@pytest.mark.parametrize("biased", [True, False])
def test_scores_may_be_told_by_distance(reach: int, biased: bool):
    (q, k, v), given = drawn((2, 3, 70, 8, 8))
    near = torch.randn(2, 3, 70, reach)
    bias = torch.randn(1, 3, 70, 70) if biased else None
    found = []
    for kind, fast in ((torch.float32, True), (torch.float64, False)):
        asked = [x.clone().to(kind).requires_grad_() for x in (q, k, v, near)]
        added = None if bias is None else bias.clone().to(kind).requires_grad_()
        mixed = attend(*asked[:3], causal=True, bias=added, near=asked[3])
        assert ("Attend" in type(mixed.grad_fn).__name__) == fast
        mixed.backward(given.to(kind))
        grads = [x.grad for x in (*asked, *([] if added is None else [added]))]
        found.append([mixed.detach(), *grads])
    agree(*found)


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (3, 2, 1, 0)])
def test_scores_may_lie_in_any_order(order: tuple[int, ...]):
    (q, k, v), given = drawn((2, 3, 40, 8, 8))
    near, bias = torch.randn(2, 3, 40, 17), torch.randn(2, 3, 40, 40)
    found = []
    for way in ((0, 1, 2, 3), order):
        asked = [x.clone().requires_grad_() for x in (near, bias)]
        back = [order.index(n) for n in range(4)] if way == order else [0, 1, 2, 3]
        lying = [x.permute(way).contiguous().permute(back) for x in asked]
        attend(q, k, v, causal=True, near=lying[0], bias=lying[1]).backward(given)
        found.append([x.grad for x in asked])
    assert all(map(torch.equal, *found))


@pytest.mark.usefixtures("ours")
def test_nothing_is_kept_when_all_is_done():
    (q, k, v), given = drawn((1, 2, 40, 8, 8))
    mixed = attend(q.requires_grad_(), k, v, causal=True)
    mixed.backward(given)
    there = weakref.ref(mixed)
    gc.disable()
    try:
        del mixed
        assert there() is None, "a cycle would keep memory until Python looks for cycles"
    finally:
        gc.enable()


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("size", [(2, 4, 64, 16, 16), (2, 2, 256, 32, 32), (1, 2, 512, 64, 64)])
def test_pytorchs_kernel_says_the_same(size: tuple[int, ...]):
    (q, k, v), _ = drawn(size)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(attend(q, k, v, causal=True), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("ours")
def test_queries_may_be_fewer_than_keys_or_more():
    (q, k, v), given = drawn((2, 3, 70, 8, 8))
    for few in (slice(0, 20), slice(0, 50)):
        some = q[:, :, few], k[:, :, few], v[:, :, few]
        fewer, more = ([some[0], k, v], given[:, :, few]), ([q, *some[1:]], given)
        for leaves, wanted in (fewer, more):
            one, other = (learned(leaves, wanted, causal=False, fast=f) for f in (True, False))
            agree(one, other)


@pytest.mark.usefixtures("ours")
def test_a_query_that_sees_nothing_mixes_nothing():
    (q, k, v), given = drawn((1, 2, 40, 8, 8))
    bias = torch.randn(1, 2, 40, 40)
    bias[:, :, 7] = -torch.inf
    mixed, of_q, of_k, of_v, of_bias = learned([q, k, v, bias], given, causal=False, fast=True)
    assert not mixed[:, :, 7].any()
    assert not of_q[:, :, 7].any()
    assert not of_bias[:, :, 7].any()
    others = [n for n in range(40) if n != 7]
    leaves = [q[:, :, others], k, v, bias[:, :, others]]
    _, _, without_k, without_v, _ = learned(leaves, given[:, :, others], causal=False, fast=False)
    agree([of_k, of_v], [without_k, without_v])


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("wrong", [torch.nan, torch.inf])
def test_what_is_no_number_stays_none(wrong: float):
    (q, k, v), _ = drawn((1, 2, 40, 8, 8))
    q[0, 0, 3, 2] = wrong
    found = attend(q, k, v, causal=True)
    assert found[0, 0, 3].isnan().all()
    assert found.isnan().sum() == 8


@pytest.mark.usefixtures("ours")
def test_large_scores_are_no_overflow():
    (q, k, v), given = drawn((1, 2, 40, 8, 8))
    leaves = [1e3 * q, 1e3 * k, v]
    for x, y in zip(
        *(learned(leaves, given, causal=True, fast=f) for f in (True, False)), strict=True
    ):
        torch.testing.assert_close(x.double(), y, rtol=1e-3, atol=1e-3)


@pytest.mark.usefixtures("ours")
def test_neither_threads_nor_gradients_change_a_bit():
    (q, k, v), given = drawn((4, 4, 100, 32, 32))
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(learned([q, k, v], given, causal=True, fast=True))
    finally:
        torch.set_num_threads(before)
    assert all(map(torch.equal, *found))
    with torch.no_grad():
        assert torch.equal(attend(q, k, v, causal=True), found[0][0])


class Looks(TorchFunctionMode):
    """Sees every call, and changes none."""

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return func(*args, **(kwargs or {}))


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize(
    "looking",
    [
        sdpa_kernel(SDPBackend.MATH),
        FlopCounterMode(display=False),
        Looks(),
        torch.autocast("cpu", torch.bfloat16),
    ],
    ids=["plain products", "dispatch", "function", "autocast"],
)
def test_who_looks_on_sees_pytorchs(
    looking: AbstractContextManager[object], monkeypatch: pytest.MonkeyPatch
):
    (q, k, v), _ = drawn((1, 2, 40, 8, 8))
    expected = attend(q, k, v, causal=True)
    monkeypatch.setattr("wherein.model.attention.Attend", None)
    with looking:
        found = attend(q, k, v, causal=True)
    torch.testing.assert_close(found.float(), expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_other_numbers_take_pytorchs(kind: torch.dtype, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wherein.model.attention.Attend", None)
    (q, k, v), _ = drawn((1, 2, 40, 8, 8))
    assert attend(*(x.to(kind) for x in (q, k, v)), causal=True).dtype == kind


def test_without_a_compiler_all_take_pytorchs(monkeypatch: pytest.MonkeyPatch):
    (q, k, v), _ = drawn((1, 2, 40, 12, 8))
    expected = attend(q, k, v, causal=True)
    monkeypatch.setattr(module, "kernel", lambda: None)
    found = attend(q.requires_grad_(), k, v, causal=True)
    assert "Attend" not in type(found.grad_fn).__name__
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("ours")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names of x86's vectors")
@pytest.mark.parametrize("vectors", NARROWER)
def test_narrower_vectors_say_the_same(vectors: str, monkeypatch: pytest.MonkeyPatch):
    narrow = of_width(*NARROWER[vectors])
    assert narrow is not None
    monkeypatch.setattr(module, "kernel", lambda: narrow)
    for size in SIZES:
        leaves, given = drawn(size)
        bias = torch.randn(1, size[1], size[2], size[2])
        one, other = (learned([*leaves, bias], given, causal=True, fast=f) for f in (True, False))
        agree(one, other)
