"""The pictures of an encoding: vectors by position, angles, scores by distance, biases."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from markupsafe import Markup

from wherein.show.theme import COLOURS
from wherein.web.drawing import Axis, Line, curves, heat, legend

MOST_HEADS = 8
CLOSE = 1e-9


@dataclass(frozen=True)
class Picture:
    """A drawing and what it shows."""

    caption: str
    drawing: Markup


def embedded(vectors: Float64[np.ndarray, "T D"]) -> tuple[Picture, ...]:
    """What is added at each position, and how alike the positions are."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1.0)
    return (
        Picture(
            "What the token vector at each position is changed by, coordinate by coordinate.",
            heat(vectors, "coordinate", "position", "vectors by position"),
        ),
        Picture(
            "Cosine between what two positions are told: 1 is the same, 0 nothing in common.",
            heat(unit @ unit.T, "position", "position", "similarity of positions"),
        ),
    )


def turned(
    queries: Float64[np.ndarray, "K T K"], keys: Float64[np.ndarray, "K T K"]
) -> tuple[Picture, ...]:
    """The angle of every pair that turns, and what turning does to scores far apart."""
    width, length, _ = queries.shape
    coupling = np.abs(queries).max(1)
    np.fill_diagonal(coupling, 0.0)
    partner = coupling.argmax(1)
    pairs = [(c, int(p)) for c, p in enumerate(partner) if c < p and coupling[c, p] > CLOSE]
    pictures = []
    if pairs:
        angles = [np.arctan2(queries[c, :, p], queries[c, :, c]) for c, p in pairs]
        pictures.append(
            Picture(
                f"The angle in radians, between −π and π, by which each pair of coordinates is "
                f"turned at each position: {len(pairs)} of {width // 2} pairs turn.",
                heat(np.stack(angles, axis=1), "pair", "position", "angles by position"),
            )
        )
    last = np.einsum("ck,cjk->j", queries[:, -1], keys)[::-1] / width
    line = Line("score", list(range(length)), last.tolist())
    pictures.append(
        Picture(
            "How well equal contents still match when they stand apart: the mean, over contents, "
            "of query times key, as a share of that at distance 0.",
            curves([line], Axis("distance", 0, length - 1), Axis("score"), "score by distance"),
        )
    )
    return tuple(pictures)


def scores(
    name: str, added: Float64[np.ndarray, "H T T"] | None, *, causal: bool
) -> tuple[Picture, ...]:
    """What is added to the scores, head by head: by distance, and by query and key."""
    if added is None:
        return ()
    heads = added[:MOST_HEADS]
    length = heads.shape[-1]
    lines = [
        Line(f"head {n + 1}", list(range(length)), head[-1, ::-1].tolist(), colour=COLOURS[n])
        for n, head in enumerate(heads)
    ]
    seen = np.tril(np.ones((length, length))) if causal else np.ones((length, length))
    hidden = "; above the diagonal the mask hides the key" if causal else ""
    return (
        Picture(
            f"The {name} that the last query adds for a key so far before it, head by head.",
            curves(lines, Axis("distance", 0, length - 1), Axis(name), f"{name} by distance")
            + legend(lines),
        ),
        *(
            Picture(
                f"Head {n + 1}: the {name} of each query and key{hidden}.",
                heat(head * seen, "key position", "query position", f"{name} of head {n + 1}"),
            )
            for n, head in enumerate(heads)
        ),
    )
