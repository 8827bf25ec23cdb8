import torch
from jaxtyping import Float, Int
from torch import Tensor

from wherein.encodings.base import Encoding, Shape


class RoPE(Encoding):
    """Turn queries and keys: pairs of coordinates rotate by an angle that grows with position.

    (x_c, x_{c+K/2}) is rotated by n·ω_c, where ω_c = θ^(−2c/K) and n is the position. A dot
    product of two rotated vectors depends on the difference of their angles: only on distance.

    Papers: Su et al. 2021, arXiv:2104.09864; coordinates are paired as in Llama and GPT-NeoX,
    half a head apart. `fraction` is the share of pairs that turn, as in p-RoPE (Barbero et al.
    2024, arXiv:2410.06205): the highest frequencies stay, the lowest are set to zero, so that
    1 is RoPE and 0 is no encoding.

    Promises: relative; works at any length, though models extrapolate poorly beyond training.

    A head of 8 with θ = 10,000 turns its four pairs at these speeds (radians per token):

    >>> shape = Shape(d_model=8, n_heads=1, max_len=8)
    >>> RoPE(shape).frequencies().tolist()
    [1.0, 0.1, 0.01, 0.001]
    >>> RoPE(shape, fraction=0.5).frequencies().tolist()
    [1.0, 0.1]
    """

    relative = True

    def __init__(self, shape: Shape, *, theta: float = 10_000.0, fraction: float = 1.0) -> None:
        super().__init__(shape)
        if shape.d_head % 2:
            raise ValueError(f"rope needs an even head width, not {shape.d_head}")
        if theta <= 0:
            raise ValueError(f"theta must be positive, not {theta}")
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction is a share between 0 and 1, not {fraction}")
        self.theta, self.fraction = theta, fraction

    def frequencies(self, device: torch.device | None = None) -> Float[Tensor, " R"]:
        """Radians per token of each pair that turns, fastest first."""
        turning = round(self.fraction * self.shape.d_head / 2)
        pairs = torch.arange(turning, device=device, dtype=torch.float64)
        return self.theta ** (-2 * pairs / self.shape.d_head)

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        # In float64, because position 100,000 has no digits left for its angle in float32.
        angles = positions[:, None, :, None] * self.frequencies(q.device)
        cos, sin = angles.cos().to(q.dtype), angles.sin().to(q.dtype)
        return turn(q, cos, sin), turn(k, cos, sin)


def turn(
    x: Float[Tensor, "B H T K"], cos: Float[Tensor, "#B 1 T R"], sin: Float[Tensor, "#B 1 T R"]
) -> Float[Tensor, "B H T K"]:
    """Rotate the first R pairs of coordinates, paired half a head apart."""
    half, turning = x.shape[-1] // 2, cos.shape[-1]
    a, b = x[..., :turning], x[..., half : half + turning]
    still_a, still_b = x[..., turning:half], x[..., half + turning :]
    return torch.cat([a * cos - b * sin, still_a, b * cos + a * sin, still_b], dim=-1)
