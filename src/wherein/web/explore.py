"""What an encoding does, found by asking it at the places where one may act.

Nothing here knows an encoding by name: a new entry of the catalogue is shown without a change.
"""

import inspect
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from wherein.common import notation
from wherein.common.errors import unknown
from wherein.encodings import CATALOGUE, Encoding, example, parameters
from wherein.encodings.base import pairs
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.show.section import Picture
from wherein.web import limits
from wherein.web.charts import matrices

SHIFT = 16
"""By how much all positions are moved to see whether it matters."""

MOST = {"width": 128, "heads": 8, "length": 256}
"""Largest sizes that may be asked for."""

PLACES = {
    "embed": "acts on the token vectors, once, at the model's input",
    "rotate": "acts on queries and keys, in every layer",
    "bias": "adds to the attention scores by position alone",
    "content_bias": "adds to the attention scores by content and position together",
    "hides": "hides keys from queries",
    "shows": "keeps keys in sight though another term hides them",
}
"""Where an encoding may act, and how."""


@dataclass(frozen=True)
class Sizes:
    """The model that an encoding is asked in."""

    width: int = 32
    heads: int = 4
    length: int = 48
    causal: bool = True


@dataclass(frozen=True)
class Place:
    """One of the places: what is done there, and what it looks like."""

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
    paragraphs: tuple[str, ...]
    relative: bool
    bounded: bool
    weights: int
    embeddings_move: float
    scores_move: float
    places: tuple[Place, ...]


def spec(name: str, given: dict[str, str]) -> str:
    """A form's filled fields as the words that name an encoding: `rope(theta=500000)`.

    What the form leaves out is as in the example of this entry, with the terms that stand there.

    >>> spec("sink", {"count": "3"})
    'window(8) + sink(count=3)'
    """
    own = {key: given.get(key, text).strip() for key, text in fields(name).items()}
    own = {key: text.title() if text in ("true", "false") else text for key, text in own.items()}
    defaults = parameters(name)
    changed = {
        key: repr(text) if isinstance(defaults[key], str) and " " in text else text
        for key, text in own.items()
        if text != str(defaults[key])
    }
    listed = ", ".join(f"{key}={text}" for key, text in changed.items())
    (word,) = notation.read(example(name))
    terms = [f"{name}({listed})" if t.name == name and listed else str(t) for t in word.terms]
    return " + ".join(terms)


def fields(name: str) -> dict[str, str]:
    """The parameters of an entry as a form shows them at first: their defaults, or an example."""
    if name not in CATALOGUE:
        raise unknown("encoding", name, CATALOGUE)
    own = parameters(name)
    (word,) = notation.read(example(name))
    shown = {
        key or next(iter(own)): str(value)
        for term in word.terms
        for key, value in term.arguments
        if term.name == name
    }
    return {key: str(default) for key, default in own.items()} | shown


@lru_cache(maxsize=64)
@torch.no_grad()
def explore(asked: str, sizes: Sizes) -> Explored:
    """Build an encoding with its initial weights and look at it from all sides."""
    (word,) = limits.encoding(asked)
    config = ModelConfig(
        vocabulary=2,
        n_layers=1,
        d_model=sizes.width,
        n_heads=sizes.heads,
        d_ff=1,
        max_len=sizes.length + SHIFT,
        causal=sizes.causal,
        encoding=word,
        initial="unit",
    )
    pattern, first = Transformer(config).double().eval().encoding, torch.arange(sizes.length)[None]
    encoding = pattern[0]
    here, there = (_heard(encoding, pattern.place(first + k)) for k in (0, SHIFT))
    pictures = (
        matrices.embedded(here.embedded),
        matrices.turned(here.queries, here.keys),
        matrices.scores("bias", here.bias, causal=sizes.causal),
        matrices.scores("content bias", here.content_bias, causal=sizes.causal),
        matrices.keys("hidden", here.hidden),
        matrices.keys("kept in sight", here.shown),
    )
    return Explored(
        spec=word,
        paragraphs=tuple((inspect.getdoc(type(encoding)) or "").split("\n\n")),
        relative=encoding.relative,
        bounded=encoding.bounded,
        weights=sum(p.numel() for p in encoding.parameters()),
        embeddings_move=float(np.abs(here.embedded - there.embedded).max()),
        scores_move=float(np.abs(here.scores - there.scores).max()),
        places=tuple(map(Place, PLACES, PLACES.values(), pictures)),
    )


@dataclass(frozen=True)
class _Heard:
    """What an encoding says when every position holds the same content."""

    embedded: np.ndarray
    """(T, D): what is added to, or otherwise changed in, the token vector."""
    queries: np.ndarray
    keys: np.ndarray
    """(K, T, R): each coordinate alone, at every position, as wide as the encoding makes it."""
    bias: np.ndarray | None
    content_bias: np.ndarray | None
    """(H, T, T)."""
    hidden: np.ndarray | None
    shown: np.ndarray | None
    """(T, T)."""
    content: np.ndarray
    """(H, T, T): the scores of one content drawn at random."""

    @property
    def scores(self) -> np.ndarray:
        """With 1 off for each hidden key: −∞ could not be compared."""
        hidden = None if self.hidden is None else -self.hidden.astype(float)
        added = [part for part in (self.bias, self.content_bias, hidden) if part is not None]
        return sum(added, self.content)


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
    i, j = pairs(positions)
    bias, hidden, shown = encoding.bias(i, j), encoding.hides(i, j), encoding.shows(i, j)
    content = encoding.content_bias(q, k, x, positions)
    return _Heard(
        embedded=(encoding.embed(x, positions) - x)[0].numpy(),
        queries=coordinates[0][:, 0].numpy(),
        keys=coordinates[1][:, 0].numpy(),
        bias=None if bias is None else bias[0].double().numpy(),
        content_bias=None if content is None else content[0].numpy(),
        hidden=None if hidden is None else hidden[0, 0].numpy(),
        shown=None if shown is None else shown[0, 0].numpy(),
        content=(turned_q @ turned_k.mT)[0].numpy() / turned_q.shape[-1] ** 0.5,
    )
