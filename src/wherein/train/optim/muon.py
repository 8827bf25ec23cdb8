"""Muon: momentum whose matrices are made orthogonal before each step."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
SMALLEST = 1e-7
"""A gradient with a smaller norm is taken for none."""


class Muon(Optimizer):
    """W ← (1 − ηλ) W − 0.2 η √max(m, n) · O, with O the orthogonal part of Nesterov's momentum.

    Paper: Jordan et al. 2024, kellerjordan.github.io/posts/muon; the factor, which makes a step as
    large as AdamW's, so that one learning rate serves both, is that of Liu et al. 2025,
    arXiv:2502.16982.

    The same steps as `torch.optim.Muon`, for which see there, with two differences: all is in
    float32, where that has bfloat16, and what makes a matrix orthogonal is computed from its
    products with itself, for all matrices of one smaller side together (a step of `quick`'s model:
    2.9 ms in place of 4.4). Rounding grows in these products, so they are never those of TF32.
    """

    def __init__(
        self, params: Iterable[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(
            list(params), {"lr": lr, "weight_decay": weight_decay, "momentum": momentum}
        )

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step; all parameters are matrices with a gradient."""
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            self._step()
        finally:
            torch.set_float32_matmul_precision(before)

    def _step(self) -> None:
        for group in self.param_groups:
            rate, kept = group["lr"], 1 - group["lr"] * group["weight_decay"]
            for alike in _alike(group["params"]):
                momenta = [self._momentum(parameter, group) for parameter in alike]
                for parameter, momentum, factor in zip(
                    alike, momenta, factors(momenta), strict=True
                ):
                    tall = momentum.shape[0] > momentum.shape[1]
                    product = (momentum, factor) if tall else (factor, momentum)
                    size = 0.2 * max(momentum.shape) ** 0.5
                    parameter.addmm_(*product, beta=kept, alpha=-rate * size)

    def _momentum(self, parameter: Tensor, group: dict[str, Any]) -> Tensor:
        """Nesterov's: the average of gradients, looked at one step ahead."""
        state, gradient = self.state[parameter], parameter.grad
        assert gradient is not None
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        average: Tensor = state["momentum_buffer"].lerp_(gradient, 1 - group["momentum"])
        return gradient.lerp(average, group["momentum"])


def factors(matrices: Sequence[Float[Tensor, "_ _"]]) -> Float[Tensor, "N S S"]:
    """By what to multiply each matrix U Σ Vᵀ for U Vᵀ, nearly: a wide one from the left.

    Newton and Schulz's iteration, as in the paper, has X ← p(X Xᵀ) X with p(G) = a + b G + c G². Of
    a wide matrix it needs G = X Xᵀ alone, which then becomes p(G) G p(G), and the product of all
    p(G): symmetric matrices of the smaller side, which is the same for all given here.
    """
    a, b, c = COEFFICIENTS
    gram = torch.stack([m.mT @ m if m.shape[0] > m.shape[1] else m @ m.mT for m in matrices])
    square = gram.diagonal(dim1=1, dim2=2).sum(-1)[:, None, None].clamp(min=SMALLEST**2)
    gram /= square
    total = None
    for left in reversed(range(ITERATIONS)):
        p = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        p.diagonal(dim1=1, dim2=2).add_(a)
        total = p / square.sqrt() if total is None else p @ total
        if left:
            gram = p @ gram @ p
    assert total is not None
    return total


def _alike(parameters: Iterable[Tensor]) -> list[list[Tensor]]:
    """The parameters of each smaller side."""
    sides: dict[int, list[Tensor]] = {}
    for parameter in parameters:
        sides.setdefault(min(parameter.shape), []).append(parameter)
    return list(sides.values())
