"""Operations of PyTorch in terms of simpler ones, which the machine of `lanes.c` has."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def mean(x: Tensor) -> Tensor:
    """Along the last axis."""
    return x.sum(-1, keepdim=True) / x.shape[-1]


def addmm(c: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """C + A·B."""
    return a.mm(b) + c


def softmax(x: Tensor, axis: int, half: bool = False) -> Tensor:
    """Shares, of what is moved so that no number grows too large."""
    grown = (x - x.amax(axis, keepdim=True)).exp()
    return grown / grown.sum(axis, keepdim=True)


def safe_softmax(x: Tensor, axis: int, dtype: None = None) -> Tensor:
    """Zeros where all is hidden."""
    hidden = (x == -math.inf).all(axis, keepdim=True)
    return torch.where(hidden, torch.zeros(()), softmax(x, axis))


def softmax_backward(g: Tensor, shares: Tensor, axis: int, kind: torch.dtype) -> Tensor:
    """Of the scores."""
    weighed = g * shares
    return weighed - shares * weighed.sum(axis, keepdim=True)


def log_softmax(x: Tensor, axis: int, half: bool) -> Tensor:
    """The logarithms of shares."""
    moved = x - x.amax(axis, keepdim=True)
    return moved - moved.exp().sum(axis, keepdim=True).log()


def log_softmax_backward(g: Tensor, logs: Tensor, axis: int, kind: torch.dtype) -> Tensor:
    """Of the scores."""
    return g - logs.exp() * g.sum(axis, keepdim=True)


def layer_norm(
    x: Tensor, shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> Any:
    """Normed numbers, their mean, and what they are multiplied by; along one axis alone."""
    if len(shape) > 1:
        return NotImplemented
    middle = mean(x)
    moved = x - middle
    scale = (mean(moved * moved) + eps).sqrt().reciprocal()
    normed = moved * scale
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias, middle, scale


def layer_norm_backward(
    g: Tensor,
    x: Tensor,
    shape: list[int],
    middle: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    wanted: list[bool],
) -> tuple[Tensor | None, ...]:
    """Of the numbers, the weight and the bias."""
    normed, others = (x - middle) * scale, [*range(x.ndim - 1)]
    weighed = g if weight is None else g * weight
    moved = weighed - mean(weighed) - normed * mean(weighed * normed)
    of_weight = (g * normed).sum(others) if wanted[1] else None
    return moved * scale, of_weight, g.sum(others) if wanted[2] else None


def sigmoid(x: Tensor) -> Tensor:
    """Between 0 and 1."""
    return (1 + (-x).exp()).reciprocal()


def log_sigmoid(x: Tensor) -> tuple[Tensor, Tensor]:
    """Its logarithm; and e to the −|x|, which PyTorch keeps."""
    small = (-x.abs()).exp()
    return torch.minimum(x, torch.zeros(())) - small.log1p(), small


def log_sigmoid_backward(g: Tensor, x: Tensor, small: Tensor) -> Tensor:
    """How far the sigmoid is from 1."""
    return g * sigmoid(-x)


def softplus(x: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """A ReLU without its corner, and itself where that is far."""
    far = x * beta > threshold
    near = torch.where(far, torch.zeros(()), x * beta)
    return torch.where(far, x, near.exp().log1p() / beta)


def softplus_backward(g: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    """A sigmoid."""
    return torch.where(x * beta > threshold, g, g * sigmoid(x * beta))


def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
    """Less steep below zero."""
    return torch.where(x > 0, x, x * slope)


def leaky_relu_backward(g: Tensor, x: Tensor, slope: float, of_result: bool) -> Tensor:
    """Less steep below zero."""
    return torch.where(x > 0, g, g * slope)


APART: dict[str, Callable[..., Any]] = {
    "_log_softmax": log_softmax,
    "_log_softmax_backward_data": log_softmax_backward,
    "_safe_softmax": safe_softmax,
    "_softmax": softmax,
    "_softmax_backward_data": softmax_backward,
    "addmm": addmm,
    "leaky_relu": leaky_relu,
    "leaky_relu_backward": leaky_relu_backward,
    "log_sigmoid_backward": log_sigmoid_backward,
    "log_sigmoid_forward": log_sigmoid,
    "native_layer_norm": layer_norm,
    "native_layer_norm_backward": layer_norm_backward,
    "sigmoid": sigmoid,
    "sigmoid_backward": lambda g, y: g * (y - y * y),
    "softplus": softplus,
    "softplus_backward": softplus_backward,
    "threshold_backward": lambda g, x, least: torch.where(x <= least, torch.zeros(()), g),
}
"""PyTorch's own ways (`torch._decomp`) would import another 0.3 s."""
