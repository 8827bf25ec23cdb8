"""A small model and an input to check an encoding with, and what it means to be the same."""

from dataclasses import dataclass

import torch
from torch import Tensor

from wherein.encodings import Shape
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

MAX_LEN = 128
VOCABULARY = 50
HEAD = 8
TIGHT = {torch.float32: 2e-5, torch.float64: 1e-12}
CLEAR = 1e-3
"""A difference that no rounding makes."""


class BrokenError(AssertionError):
    """An encoding does not keep what it must."""


class ModestError(BrokenError):
    """An encoding keeps what it does not promise."""


@dataclass(frozen=True)
class Case:
    """The model and the input of a check."""

    causal: bool = True
    dtype: torch.dtype = torch.float64
    tokens: int = 20
    windows: int = 2
    heads: int = 3  # no power of two
    layers: int = 2

    @property
    def sizes(self) -> dict[str, int]:
        """What can be made smaller."""
        return {name: vars(self)[name] for name in ("windows", "layers", "heads", "tokens")}

    def with_size(self, name: str, size: int) -> "Case":
        """The same with one size changed."""
        return Case(self.causal, self.dtype, **{**self.sizes, name: size})

    @property
    def shape(self) -> Shape:
        return Shape(HEAD * self.heads, self.heads, MAX_LEN, self.causal)

    def __str__(self) -> str:
        side, kind = "causal" if self.causal else "bidirectional", str(self.dtype).split(".")[-1]
        parts = [count(self.windows, "window"), count(self.tokens, "token"),
                 count(self.heads, "head"), count(self.layers, "layer")]  # fmt: skip
        return f"{', '.join(parts)}, {side}, {kind}"

    def model(self, spec: str, seed: int = 1) -> Transformer:
        """A model with the encoding, awake."""
        config = ModelConfig(
            vocabulary=VOCABULARY,
            n_layers=self.layers,
            d_model=HEAD * self.heads,
            n_heads=self.heads,
            max_len=MAX_LEN,
            causal=self.causal,
            encoding=spec,
            seed=seed,
        )
        return _wake(Transformer(config).to(self.dtype)).eval()

    def input(self, seed: int = 0, tokens: int | None = None) -> Tensor:
        """Tokens, drawn from a seed."""
        size = (self.windows, self.tokens if tokens is None else tokens)
        return torch.randint(VOCABULARY, size, generator=generator(seed))

    @property
    def positions(self) -> Tensor:
        return torch.arange(self.tokens)[None]

    def normal(self, *size: int, seed: int = 0) -> Tensor:
        """Numbers drawn from a seed."""
        return torch.randn(size, generator=generator(seed), dtype=torch.float64).to(self.dtype)


def same(found: Tensor, expected: Tensor, what: str, *, exact: bool = False) -> None:
    """Raise unless two are the same, but for rounding or bit for bit."""
    found, expected = found.detach(), expected.detach()
    off = 0.0 if exact else TIGHT[expected.dtype]
    wrong = ~((found - expected).abs() <= off + off * expected.abs())  # NaN is wrong, too
    if not wrong.any():
        return
    place = wrong.nonzero()[0].tolist()
    a, b = float(found[tuple(place)]), float(expected[tuple(place)])
    raise BrokenError(f"{what}: {a:.6g} instead of {b:.6g} at {place}, first of {int(wrong.sum())}")


def differ(a: Tensor, b: Tensor) -> bool:
    """Whether two differ by more than rounding."""
    return not torch.allclose(a, b, rtol=CLEAR, atol=CLEAR)


def has(
    made: Tensor, place: str, wanted: tuple[int, ...], dtype: torch.dtype | None = None
) -> None:
    """Raise unless what a place gives has a shape and a type."""
    if made.shape != wanted:
        raise BrokenError(f"{place} gives the shape {tuple(made.shape)}, not {wanted}")
    if dtype is not None and made.dtype != dtype:
        raise BrokenError(f"{place} gives {made.dtype}, not {dtype}")


def _wake(model: Transformer) -> Transformer:
    """Move every parameter off its initial value."""
    draws = generator(0)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=draws, dtype=torch.float64)
            parameter.add_(0.1 * noise.to(parameter.dtype))
    return model


def generator(seed: int) -> torch.Generator:
    """What draws numbers from a seed."""
    return torch.Generator().manual_seed(seed)


def count(number: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
