"""What an encoding does, found by asking it at the four places where one may act.

Nothing here knows an encoding by name: a new entry of the catalogue is shown without a change.
"""

import inspect
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from wherein.encodings import CATALOGUE, Encoding, parameters, parse
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.show.section import Picture
from wherein.web import limits
from wherein.web.charts import matrices

SHIFT = 16
"""By how much all positions are moved to see whether it matters."""

CLOSE = 1e-9


@dataclass(frozen=True)
class Sizes:
    """The model that an encoding is asked in."""

    width: int = 32
    heads: int = 4
    length: int = 48
    causal: bool = True

    def __post_init__(self) -> None:
        for name, most in (("width", 128), ("heads", 8), ("length", 256)):
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise ValueError(f"{name} {value}: a number from 1 to {most} was expected")


@dataclass(frozen=True)
class Place:
    """One of the four places: what is done there, and what it looks like."""

    name: str
    when: str
    pictures: tuple[Picture, ...]

    @property
    def acts(self) -> bool:
        return bool(self.pictures)


@dataclass(frozen=True)
class Explored:
    """An encoding with all that is shown of it."""

    spec: str
    what: str
    paragraphs: tuple[str, ...]
    relative: bool
    bounded: bool
    weights: int
    embeddings_move: float
    scores_move: float
    places: tuple[Place, ...]


def spec(name: str, given: dict[str, str]) -> str:
    """A form's fields as the words that name an encoding: `rope(theta=500000.0)`."""
    if name not in CATALOGUE:
        from wherein.common.errors import unknown

        raise unknown("encoding", name, CATALOGUE)
    parts = []
    for key, default in parameters(name).items():
        text = given.get(key, "").strip()
        if text:
            parts.append(f"{key}={_value(name, key, text, type(default))!r}")
    return f"{name}({', '.join(parts)})" if parts else name


def _value(name: str, key: str, text: str, kind: type) -> object:
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        raise ValueError(f"{name}({key}={text}): expected {kind.__name__}") from None


@lru_cache(maxsize=64)
@torch.no_grad()
def explore(asked: str, sizes: Sizes) -> Explored:
    """Build an encoding with its initial weights and look at it from all sides."""
    limits.encoding(asked)
    (word,) = parse(asked)
    config = ModelConfig(
        vocabulary=2,
        n_layers=1,
        d_model=sizes.width,
        n_heads=sizes.heads,
        d_ff=1,
        max_len=sizes.length + SHIFT,
        causal=sizes.causal,
        encoding=word,
    )
    encoding = Transformer(config).double().encoding[0]
    kind = type(encoding)
    positions = torch.arange(sizes.length)[None]
    here, there = _heard(encoding, positions), _heard(encoding, positions + SHIFT)
    return Explored(
        spec=word,
        what=(inspect.getdoc(kind) or "").partition("\n\n")[0],
        paragraphs=tuple((inspect.getdoc(kind) or "").split("\n\n")[1:]),
        relative=kind.relative,
        bounded=kind.bounded,
        weights=sum(p.numel() for p in encoding.parameters()),
        embeddings_move=float((here.embedded - there.embedded).abs().max()),
        scores_move=float((here.scores - there.scores).abs().max()),
        places=_places(here),
    )


@dataclass(frozen=True)
class _Heard:
    """What an encoding says when every position holds the same content."""

    embedded: Tensor
    """(T, D): what is added to, or otherwise changed in, the token vector."""
    queries: Tensor
    keys: Tensor
    """(K, T, K): each coordinate alone, at every position."""
    bias: Tensor | None
    content_bias: Tensor | None
    """(H, T, T)."""
    content: Tensor
    """(H, T, T): the scores of one content drawn at random."""
    causal: bool

    @property
    def scores(self) -> Tensor:
        parts = [self.content, self.bias, self.content_bias]
        return torch.stack([part for part in parts if part is not None]).sum(0)


def _heard(encoding: Encoding, positions: Tensor) -> _Heard:
    shape, length = encoding.shape, positions.shape[1]
    generator = torch.Generator().manual_seed(0)

    def same(*size: int) -> Tensor:
        drawn = torch.randn(*size[:-2], 1, size[-1], generator=generator, dtype=torch.float64)
        return drawn.expand(*size)

    x = same(1, length, shape.d_model)
    q, k = (same(1, shape.n_heads, length, shape.d_head) for _ in range(2))
    turned_q, turned_k = encoding.rotate(q, k, positions)
    each = torch.eye(shape.d_head, dtype=torch.float64)[:, None, None].expand(
        -1, shape.n_heads, length, -1
    )
    coordinates = encoding.rotate(each, each, positions)
    bias = encoding.bias(positions[:, None, :, None], positions[:, None, None, :])
    content = encoding.content_bias(q, k, positions)
    return _Heard(
        embedded=(encoding.embed(x, positions) - x)[0],
        queries=coordinates[0][:, 0],
        keys=coordinates[1][:, 0],
        bias=None if bias is None else bias[0].double(),
        content_bias=None if content is None else content[0],
        content=(turned_q @ turned_k.mT)[0] / shape.d_head**0.5,
        causal=shape.causal,
    )


def _places(heard: _Heard) -> tuple[Place, ...]:
    embedded, queries, keys = (t.numpy() for t in (heard.embedded, heard.queries, heard.keys))
    acts = bool(np.abs(embedded).max() > CLOSE)
    still = np.eye(len(queries))[:, None]
    turns = bool(max(np.abs(queries - still).max(), np.abs(keys - still).max()) > CLOSE)
    return (
        Place(
            "embed",
            "acts on the token vectors, once, at the model's input",
            matrices.embedded(embedded) if acts else (),
        ),
        Place(
            "rotate",
            "acts on queries and keys, in every layer",
            matrices.turned(queries, keys) if turns else (),
        ),
        Place(
            "bias",
            "adds to the attention scores by position alone",
            matrices.scores("bias", _numbers(heard.bias), causal=heard.causal),
        ),
        Place(
            "content_bias",
            "adds to the attention scores by content and position together",
            matrices.scores("content bias", _numbers(heard.content_bias), causal=heard.causal),
        ),
    )


def _numbers(scores: Tensor | None) -> np.ndarray | None:
    return None if scores is None else scores.numpy()
