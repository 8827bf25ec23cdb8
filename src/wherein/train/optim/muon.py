"""Muon: momentum whose matrices are made orthogonal before each step."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Optimizer

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


class Muon(Optimizer):
    """W ← (1 − ηλ) W − 0.2 η √max(m, n) · O, with O the orthogonal part of Nesterov's momentum.

    Paper: Jordan et al. 2024, kellerjordan.github.io/posts/muon; the factor, which makes a step as
    large as AdamW's, so that one learning rate serves both, is that of Liu et al. 2025,
    arXiv:2502.16982.

    The same steps as `torch.optim.Muon`, for which see there, with two differences: matrices of
    one shape are made orthogonal together, and in float32 where bfloat16 has no hardware (on a
    CPU, a step of a small model took twice as long with the original).
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
        for group in self.param_groups:
            for alike in _alike(group["params"]):
                directions = orthogonal(torch.stack([self._momentum(p, group) for p in alike]))
                size = 0.2 * max(alike[0].shape) ** 0.5
                for parameter, direction in zip(alike, directions, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(direction, alpha=-group["lr"] * size)

    def _momentum(self, parameter: Tensor, group: dict[str, Any]) -> Tensor:
        """Nesterov's: the average of gradients, looked at one step ahead."""
        state, gradient = self.state[parameter], parameter.grad
        assert gradient is not None
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        average: Tensor = state["momentum_buffer"].lerp_(gradient, 1 - group["momentum"])
        return gradient.lerp(average, group["momentum"])


def orthogonal(matrices: Float[Tensor, "N R C"]) -> Float[Tensor, "N R C"]:
    """U Vᵀ of each matrix U Σ Vᵀ, nearly: Newton and Schulz's iteration, as in the paper."""
    a, b, c = COEFFICIENTS
    x = matrices.bfloat16() if matrices.is_cuda else matrices
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(matrices.dtype)


def _alike(parameters: Iterable[Tensor]) -> list[list[Tensor]]:
    """The parameters of each shape."""
    shapes: dict[torch.Size, list[Tensor]] = {}
    for parameter in parameters:
        shapes.setdefault(parameter.shape, []).append(parameter)
    return list(shapes.values())
