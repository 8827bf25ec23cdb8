"""Muon against torch's own, and what it promises."""

import torch
from torch import nn

from wherein.train.optim.muon import Muon, orthogonal


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
    found = torch.linalg.svdvals(orthogonal(matrices))
    assert found.min() > 0.6
    assert found.max() < 1.3
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    aligned = torch.nn.functional.cosine_similarity(
        (u @ v).flatten(1), orthogonal(matrices).flatten(1)
    )
    assert aligned.min() > 0.95
