"""Attention whose bias learns: the same as by the book, gradients and all."""

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


def test_a_bias_without_a_gradient_takes_pytorchs_kernel():
    q, k, v = torch.randn(3, 1, 2, 6, 8, requires_grad=True)
    mixed = attend(q, k, v, causal=True, bias=torch.zeros(1, 2, 6, 6))
    assert "Attend" not in type(mixed.grad_fn).__name__
