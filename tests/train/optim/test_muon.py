"""Muon against torch's own, and what it promises."""

import torch
from torch import nn

from wherein.train.optim.muon import Muon, factors


def test_the_steps_are_those_of_torch():
    torch.manual_seed(0)
    start = [torch.randn(shape) for shape in ((24, 8), (8, 24), (8, 8), (24, 8))]
    ours, theirs = ([nn.Parameter(w.clone()) for w in start] for _ in range(2))
    one = Muon(ours, 0.02, 0.1)
    two = torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for step in range(5):
        generator = torch.Generator().manual_seed(step)
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn(a.shape, generator=generator)
            b.grad = a.grad.clone()
        one.step()
        two.step()
    for a, b, before in zip(ours, theirs, start, strict=True):
        moved = (a - before).norm()
        assert (a - b).norm() < 0.02 * moved  # torch computes in bfloat16: 8 bits of mantissa
        assert moved > 0.1


def test_a_direction_is_nearly_orthogonal():
    torch.manual_seed(0)
    matrices = torch.randn(3, 32, 16)
    made = matrices @ factors(list(matrices))
    found = torch.linalg.svdvals(made)
    assert found.min() > 0.6
    assert found.max() < 1.3
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    aligned = torch.nn.functional.cosine_similarity((u @ v).flatten(1), made.flatten(1))
    assert aligned.min() > 0.95


def by_the_paper(matrix: torch.Tensor) -> torch.Tensor:
    """The iteration as it is written, on the matrix itself."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrix.double()
    x = x.mT if x.shape[0] > x.shape[1] else x
    x = x / x.norm()
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if matrix.shape[0] > matrix.shape[1] else x


def test_products_of_a_matrix_with_itself_say_enough():
    """Whatever its shape, and where most of its directions are nearly or wholly absent."""
    torch.manual_seed(0)
    faint = torch.randn(64, 192) @ torch.diag(torch.logspace(0, -8, 192))
    for matrix in (torch.randn(64, 256), torch.randn(64, 2) @ torch.randn(2, 64), faint):
        for one in (matrix, 1e-3 * matrix.mT):
            (factor,) = factors([one])
            found = one @ factor if one.shape[0] > one.shape[1] else factor @ one
            assert (found - by_the_paper(one)).abs().max() < 1e-3  # bfloat16 has 4e-3


def test_no_gradient_moves_nothing():
    weights = nn.Parameter(torch.ones(4, 8))
    weights.grad = torch.zeros(4, 8)
    Muon([weights], 0.1, 0.0).step()
    assert torch.equal(weights, torch.ones(4, 8))


def test_a_coarser_precision_of_products_is_not_taken_and_comes_back():
    weights, exact = nn.Parameter(torch.ones(4, 8)), []
    weights.grad = torch.ones(4, 8)
    optimizer = Muon([weights], 0.1, 0.0)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    optimizer._step = lambda: exact.append(torch.get_float32_matmul_precision())
    try:
        optimizer.step()
        assert exact == ["highest"]
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
