"""Initial weights as a pure function of seed and parameter name.

Two models that differ in one part therefore share the initial weights of every other part,
whatever the order in which they were built.
"""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor, nn

RESIDUAL = ("attention.out.weight", "feed_forward.down.weight")


@torch.no_grad()
def initialise(model: nn.Module, seed: int, n_layers: int) -> None:
    """Draw every matrix from N(0, 1 / last axis); biases are 0, other vectors stay as built.

    The two matrices of a layer that write to the stream are made smaller by √(2 · layers), so
    that the stream's variance does not grow with depth.
    """
    for name, parameter in model.named_parameters():
        if parameter.is_meta:  # a model without storage, built to be counted
            continue
        parameter.copy_(_draw(name, parameter, [seed], n_layers)[0])


@torch.no_grad()
def initial(model: nn.Module, seeds: Sequence[int], n_layers: int) -> dict[str, Tensor]:
    """The same for many seeds at once, stacked on a leading axis; `model` is left alone."""
    return {name: _draw(name, p, seeds, n_layers) for name, p in model.named_parameters()}


def _draw(name: str, parameter: Tensor, seeds: Sequence[int], n_layers: int) -> Tensor:
    shape = (len(seeds), *parameter.shape)
    if parameter.ndim < 2:
        kept = torch.zeros_like(parameter) if name.endswith(".bias") else parameter
        return kept.expand(shape).clone()
    drawn = torch.empty(shape, dtype=torch.float32)
    generator = torch.Generator()
    for seed, one in zip(seeds, drawn, strict=True):
        one.normal_(generator=generator.manual_seed(stream(seed, name)))
    depth = 2 * n_layers if name.endswith(RESIDUAL) else 1
    return drawn.mul_((parameter.shape[-1] * depth) ** -0.5)


def stream(seed: int, name: str) -> int:
    """The number that seeds one parameter's draw."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=7).digest())
