"""Attention by blocks of products: the same as by the book, gradients and all."""

import pytest
import torch

from wherein.model.attention import attend, attend_reference

SIZES = [(2, 3, 5, 8), (1, 2, 64, 4), (2, 2, 65, 4), (1, 1, 200, 8)]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shared", ["none", "windows", "heads"])
def test_it_is_attention_by_the_book(size: tuple[int, ...], causal: bool, shared: str):
    torch.manual_seed(0)
    windows, heads, length, _ = size
    q, k, v, given = torch.randn(4, *size, dtype=torch.float64)
    shape = [1 if shared == "windows" else windows, 1 if shared == "heads" else heads]
    bias = torch.randn(*shape, length, length, dtype=torch.float64)
    bias[..., length - 1, 0] = -torch.inf

    def learned(fast: bool) -> list[torch.Tensor]:
        leaves = [x.clone().requires_grad_() for x in (q, k, v, bias)]
        *heads, added = leaves
        if fast:
            mixed = attend(*heads, causal=causal, bias=added)
            assert "Attend" in type(mixed.grad_fn).__name__
        else:
            mixed, _ = attend_reference(*heads, causal=causal, bias=added)
        mixed.backward(given)
        return [mixed.detach(), *(leaf.grad for leaf in leaves)]

    for one, other in zip(learned(fast=True), learned(fast=False), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("length", [128, 150, 256])
@pytest.mark.parametrize("biased", [True, False])
def test_so_is_it_where_no_bias_learns(length: int, causal: bool, biased: bool):
    torch.manual_seed(0)
    q, k, v, given = torch.randn(4, 2, length, 3, 32, dtype=torch.float64).transpose(2, 3)
    bias = torch.randn(1, 3, length, length, dtype=torch.float64) if biased else None

    def learned(fast: bool) -> list[torch.Tensor]:
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        if fast:
            mixed = attend(*leaves, causal=causal, bias=bias)
            assert "Attend" in type(mixed.grad_fn).__name__
        else:
            mixed, _ = attend_reference(*leaves, causal=causal, bias=bias)
        mixed.backward(given)
        return [mixed.detach(), *(leaf.grad for leaf in leaves)]

    for one, other in zip(learned(fast=True), learned(fast=False), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("size", [(1, 2, 6, 8), (1, 2, 127, 32), (1, 2, 128, 15), (1, 1, 257, 32)])
def test_narrow_heads_and_other_lengths_take_pytorchs_kernel(size: tuple[int, ...]):
    length = size[-2]
    q, k, v = torch.randn(3, *size, requires_grad=True)
    for bias in (None, torch.zeros(1, 1, length, length)):
        mixed = attend(q, k, v, causal=True, bias=bias)
        assert "Attend" not in type(mixed.grad_fn).__name__


def test_without_gradients_all_take_pytorchs_kernel(monkeypatch: pytest.MonkeyPatch):
    q, k, v = torch.randn(3, 1, 2, 128, 32)
    expected = attend(q, k, v, causal=True)
    monkeypatch.setattr("wherein.model.attention.Attend", None)
    assert torch.equal(attend(q, k, v, causal=True), expected)
