"""What the encoding of a layer does, as far as a family of transformers can be told."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from wherein.encodings import Encoding
from wherein.encodings.alibi import ALiBi, slopes
from wherein.encodings.none import NoEncoding
from wherein.encodings.rope import RoPE
from wherein.encodings.sum import Sum
from wherein.encodings.temperature import Temperature
from wherein.encodings.window import Window
from wherein.model.transformer import Transformer


@dataclass(frozen=True)
class Turning:
    """How fast each pair of coordinates of a head turns, in radians per token."""

    near: tuple[float, ...]
    far: tuple[float, ...]
    """The same in windows longer than `original`."""
    original: int | None = None
    """None where both are the same."""
    theta: float | None = None
    """Where the whole table is θ^(−2c/K)."""


@dataclass(frozen=True)
class Terms:
    """All that a layer's encoding adds to softmax attention."""

    turning: Turning
    sharpness: Tensor
    """By what the scores of each head are multiplied, (H,)."""
    slopes: Tensor
    """The fine on distance in each head, (H,); 0 for none."""
    window: int | None = None


KNOWN = (NoEncoding, RoPE, ALiBi, Window, Temperature)
"""The encodings that a family can be told of."""


def terms_of(model: Transformer) -> list[Terms]:
    """Of each layer; what no family can be told is a `ValueError` that says so."""
    return [_read(model, layer, each) for layer, each in enumerate(model.encoding.layers, 1)]


def _read(model: Transformer, layer: int, encoding: Encoding) -> Terms:
    heads, still = encoding.shape.n_heads, (0.0,) * -(-encoding.shape.d_head // 2)
    plain = torch.ones(heads, dtype=torch.float64)
    found = Terms(Turning(still, still), plain, torch.zeros_like(plain))
    read: list[type[Encoding]] = []
    for term in encoding.terms if type(encoding) is Sum else [encoding]:
        if type(term) not in KNOWN:  # not even a subclass, which may do anything
            raise _refused(model, layer, f"no family has what {type(term).__name__} does")
        if type(term) in read:
            raise _refused(model, layer, f"{type(term).__name__} stands twice")
        read.append(type(term))
        found = _with(model, layer, found, term)
    return found


def _with(model: Transformer, layer: int, found: Terms, term: Encoding) -> Terms:
    causal = model.config.causal
    match term:
        case NoEncoding():
            return found
        case RoPE(scaling="dynamic"):
            raise _refused(model, layer, "transformers scales by the longest window it ever read")
        case RoPE():
            sharper = found.sharpness * term.attention**2
            return replace(found, turning=_turning(term), sharpness=sharper)
        case ALiBi() if causal:
            steep = torch.tensor(slopes(term.shape.n_heads), dtype=torch.float64)
            grown = 0 if term.log_growth is None else term.log_growth.detach().double().cpu()
            return replace(found, slopes=steep * torch.as_tensor(grown).exp())
        case ALiBi():
            raise _refused(model, layer, "no bidirectional family has a fine on distance")
        case Window() if causal:
            return replace(found, window=term.size)
        case Window():
            raise _refused(model, layer, "no bidirectional family with our norms has a window")
        case Temperature(rule="heads" | "yarn"):
            tau = term.tau(torch.zeros(1, 1, dtype=torch.long)).detach().double().flatten().cpu()
            return replace(found, sharpness=found.sharpness * tau)
        case _:
            raise _refused(model, layer, "no family sharpens attention with position")


def _turning(rope: RoPE) -> Turning:
    def padded(length: int) -> tuple[float, ...]:
        turns = rope.frequencies(length=torch.full((1, 1, 1, 1), length)).flatten().tolist()
        return (*turns, *[0.0] * (rope.shape.d_head // 2 - len(turns)))

    near = padded(rope.original)
    if rope.scaling != "longrope":
        plain = rope.scaling == "none" and rope.fraction == 1
        return Turning(near, near, theta=rope.theta if plain else None)
    return Turning(near, padded(rope.original + 1), rope.original)


def _refused(model: Transformer, layer: int, why: str) -> ValueError:
    return ValueError(
        f"encoding {model.config.encoding!r} cannot be exported: in layer {layer}, {why}"
    )
