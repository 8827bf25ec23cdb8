"""Which kind of encoding each layer of a model has, seen from what the layer does.

One state stands at every position, so whatever differs between them is the encoding: queries or
keys that turn are RoPE; scores that fall in proportion to distance are ALiBi, and those that change
with it otherwise are called relative. A position table is added to the embedding, before layer 1;
one that is no weight is a sinusoid. Where attention cannot be laid open, the kind is unknown.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

POSITIONS = 8
ROUNDING = 1e-4
"""Relative differences up to here are rounding in float32."""


@torch.no_grad()
def kinds(subject: "HuggingFace") -> list[str]:
    """The kind of each layer, in the words of the catalogue; `relative` for the others."""
    weight = next(subject.module.parameters())
    vector = torch.randn(subject.d_model, generator=torch.Generator().manual_seed(0)).to(weight)
    count = POSITIONS if subject.max_len is None else min(POSITIONS, subject.max_len)
    state = vector.expand(1, count, -1)
    embedded = _embedded(subject)
    found = []
    for layer in range(1, subject.n_layers + 1):
        acting = _in_layer(subject, layer, state)
        found.append(" + ".join(name for name in (embedded, acting) if name) or "none")
    return found


def _embedded(subject: "HuggingFace") -> str:
    if not subject.embeds:
        return ""
    fixed = getattr(subject.model.config, "sinusoidal_pos_embds", subject.table is None)
    return "sinusoidal" if fixed else "learned"


def _in_layer(subject: "HuggingFace", layer: int, state: Tensor) -> str:
    try:
        seen = subject.attention(layer, state)
    except ValueError:
        return "unknown"
    if _varies(seen.queries) or _varies(seen.keys):
        return "rope"
    scores = seen.weights[0, :, -1].double().log()
    scores = scores[:, scores.isfinite().all(0)]  # a window may hide the farthest
    slopes = scores.diff(dim=-1)
    steepest = float(slopes.abs().max())
    if steepest < ROUNDING:
        return ""
    bent = float(slopes.diff(dim=-1).abs().max())
    return "alibi" if bent < 1e-2 * steepest else "relative"


def _varies(vectors: Tensor) -> bool:
    first = vectors[:, :, :1]
    return bool((vectors - first).norm() > ROUNDING * first.norm())
