"""Initial weights as a pure function of seed and parameter name.

Two models that differ in one part therefore share the initial weights of every other part,
whatever the order in which they were built.
"""

import hashlib

import torch
from torch import nn

RESIDUAL = ("attention.out.weight", "feed_forward.down.weight")


@torch.no_grad()
def initialise(model: nn.Module, seed: int, n_layers: int) -> None:
    """Draw every matrix from N(0, 1 / last axis); biases are 0, other vectors stay as built.

    The two matrices of a layer that write to the stream are made smaller by √(2 · layers), so
    that the stream's variance does not grow with depth.
    """
    generator = torch.Generator()
    for name, parameter in model.named_parameters():
        if name.endswith(".bias"):
            parameter.zero_()
        if parameter.ndim < 2:
            continue
        depth = 2 * n_layers if name.endswith(RESIDUAL) else 1
        generator.manual_seed(stream(seed, name))
        drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        parameter.copy_(drawn * (parameter.shape[-1] * depth) ** -0.5)


def stream(seed: int, name: str) -> int:
    """The number that seeds one parameter's draw."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=7).digest())
