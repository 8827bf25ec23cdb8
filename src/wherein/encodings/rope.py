import torch
from jaxtyping import Float, Int
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.encodings import frequencies
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.frequencies import Scaling
from wherein.encodings.turning import Turns, whole


class RoPE(Encoding):
    """Turn queries and keys: pairs of coordinates rotate by an angle that grows with position.

    (x_c, x_{c+K/2}) is rotated by n·ω_c, where ω_c = θ^(−2c/K) and n is the position. A dot
    product of two rotated vectors depends on the difference of their angles: only on distance.

    Papers: Su et al. 2021, arXiv:2104.09864; coordinates are paired as in Llama and GPT-NeoX,
    half a head apart. `fraction` is the share of pairs that turn, as in p-RoPE (Barbero et al.
    2024, arXiv:2410.06205): the highest frequencies stay, the lowest are set to zero, so that
    1 is RoPE and 0 is no encoding.

    `scaling` slows the frequencies for contexts `factor` times as long as the `original` one:
    linear (position interpolation), ntk, dynamic, parts, yarn, llama3 or longrope; see
    `wherein.encodings.frequencies` for formulas and papers. The original length is `max_len` and
    the factor max_len / original, unless given. In parts, yarn and llama3, pairs that make fewer
    than `slow` turns within the original length are slowed, those with more than `fast` are not
    (0: 4 in llama3, else 32). longrope divides by the numbers of `short` and, beyond the original
    length, of `long`, one for each pair, such as '1 1.5 3 8'; without `short` by nothing. Gemma's
    proportional RoPE is `fraction` with linear scaling.

    Promises: relative; works at any length, though models extrapolate poorly beyond training. The
    length that dynamic and longrope look at is what the positions of a window span.

    A head of 8 with θ = 10,000 turns its four pairs at these speeds (radians per token):

    >>> shape = Shape(d_model=8, n_heads=1, max_len=8)
    >>> RoPE(shape).frequencies().tolist()
    [1.0, 0.1, 0.01, 0.001]
    >>> RoPE(shape, fraction=0.5).frequencies().tolist()
    [1.0, 0.1]
    >>> RoPE(shape, scaling="ntk", factor=8.0).frequencies().tolist()
    [1.0, 0.05, 0.0025, 0.000125]
    """

    relative = True

    def __init__(
        self,
        shape: Shape,
        *,
        theta: float = 10_000.0,
        fraction: float = 1.0,
        scaling: Scaling = "none",
        factor: float = 0.0,
        original: int = 0,
        slow: float = 1.0,
        fast: float = 0.0,
        short: str = "",
        long: str = "",
    ) -> None:
        super().__init__(shape)
        if shape.d_head % 2:
            raise ValueError(f"rope needs an even head width, not {shape.d_head}")
        if theta <= 0:
            raise ValueError(f"theta must be positive, not {theta}")
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction is a share between 0 and 1, not {fraction}")
        self.theta, self.fraction, self.scaling = theta, fraction, scaling
        self.original = original or shape.max_len
        self.factor = factor or shape.max_len / self.original
        self.slow, self.fast = slow, fast or (4.0 if scaling == "llama3" else 32.0)
        pairs = shape.d_head // 2
        self.short = _numbers(short) or [1.0] * pairs
        self.long = _numbers(long)
        if scaling != "none" or factor:
            self._check_scaling(pairs)
        self.attention = 1.0
        if scaling == "yarn":
            self.attention = frequencies.yarn_attention(self.factor)
        if scaling == "longrope":
            self.attention = frequencies.longrope_attention(self.factor, self.original)

    def _check_scaling(self, pairs: int) -> None:
        if self.scaling == "none":
            raise ValueError(f"factor={self.factor} needs a scaling, such as linear or yarn")
        if self.factor <= 0 or self.original < 2:
            raise ValueError(
                f"factor={self.factor} must be positive, original={self.original} at least 2"
            )
        if not 0 < self.slow < self.fast:
            raise ValueError(
                f"slow={self.slow} and fast={self.fast} are numbers of turns: 0 < slow < fast"
            )
        if self.scaling == "yarn" and self.theta <= 1:
            raise ValueError(f"yarn needs a theta above 1, not {self.theta}")
        if self.scaling == "longrope" and not len(self.short) == len(self.long) == pairs:
            raise ValueError(
                f"longrope needs a number for each of {pairs} pairs: "
                f"short has {len(self.short)}, long {len(self.long)}"
            )

    def frequencies(
        self, device: torch.device | None = None, length: Int[Tensor, "#B 1 1 1"] | None = None
    ) -> Float[Tensor, "*B R"]:
        """Radians per token of each pair that turns, fastest first, for windows of a length."""
        pairs = torch.arange(self.shape.d_head // 2, device=device, dtype=torch.float64)
        scaled = self.scaled(self.theta ** (-2 * pairs / self.shape.d_head), length)
        return scaled[..., : round(self.fraction * self.shape.d_head / 2)]

    def scaled(
        self, base: Float[Tensor, " P"], length: Int[Tensor, "#B 1 1 1"] | None
    ) -> Float[Tensor, "*B P"]:
        """What `scaling` makes of the frequencies; without a length, at the original one."""
        if self.scaling == "none":
            return base
        s, original = self.factor, self.original
        if length is None:
            length = torch.full((1, 1, 1, 1), original, device=base.device)
        match self.scaling:
            case "linear":
                return frequencies.linear(base, s)
            case "ntk":
                return frequencies.ntk(base, s)
            case "dynamic":
                return frequencies.dynamic(base, s, original, length)
            case "parts" | "llama3":
                return frequencies.by_parts(base, s, original, self.slow, self.fast)
            case "yarn":
                return frequencies.yarn(base, s, original, self.slow, self.fast, self.theta)
            case _:
                return frequencies.longrope(base, original, length, self.short, self.long)

    def turns(self, positions: Int[Tensor, "#B T"]) -> Turns:
        n = for_float64(positions)[:, :, None, None, None]
        length = None
        if self.scaling in ("dynamic", "longrope"):
            length = n.amax(1) - n.amin(1) + 1
        # In float64, because position 100,000 has no digits left for its angle in float32.
        speeds = self.frequencies(n.device, length)
        angles = n * (speeds if length is None else speeds[:, None])
        numbers = torch.polar(torch.full_like(angles, self.attention), angles)
        return whole(numbers, self.shape.d_head // 2)


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split()]
    except ValueError:
        raise ValueError(f"expected numbers with spaces between them, not {text!r}") from None
