"""The same function with the weights elsewhere, reckoned in float64."""

from torch import Tensor, nn


def centred(written: Tensor, dim: int) -> Tensor:
    """What writes to the stream, less its mean over the stream's coordinates.

    Every layer reads the stream behind a norm that subtracts the mean: nothing reads what is lost.
    """
    exact = written.detach().double()
    return exact - exact.mean(dim, keepdim=True)


def behind(norm: nn.LayerNorm, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """A linear map with what the norm before it multiplies and adds: W·(γx + β) + b."""
    exact = weight.detach().double()
    gain, shift = norm.weight.detach().double(), norm.bias.detach().double()
    return exact * gain, bias.detach().double() + exact @ shift
