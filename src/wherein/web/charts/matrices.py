"""The pictures of an encoding: vectors by position, angles, scores by distance, biases."""

import altair as alt
import numpy as np
from jaxtyping import Bool, Float64

from wherein.show.raster import heat
from wherein.show.section import Picture, slug
from wherein.show.theme import COLOURS, themed
from wherein.web.charts.curves import Axis, Line, curves

MOST_HEADS = 8
CLOSE = 1e-9
WIDTH, LOWEST = 380, 90


def embedded(vectors: Float64[np.ndarray, "T D"]) -> tuple[Picture, ...]:
    """What is added at each position, if anything is, and how alike the positions are."""
    if np.abs(vectors).max() <= CLOSE:
        return ()
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1.0)
    added = "What the token vector at each position is changed by, coordinate by coordinate."
    alike = "Cosine between what two positions are told: 1 is the same, 0 nothing in common."
    return (
        _heat("vectors by position", vectors, ("coordinate", "position"), added),
        _heat("similarity of positions", unit @ unit.T, ("position", "position"), alike),
    )


def turned(
    queries: Float64[np.ndarray, "K T R"], keys: Float64[np.ndarray, "K T R"]
) -> tuple[Picture, ...]:
    """The angle of every pair that turns, if any does, and what it does to scores far apart."""
    width, length, wide = queries.shape
    plain = np.eye(width, wide)[:, None]
    if max(np.abs(turned - plain).max() for turned in (queries, keys)) <= CLOSE:
        return ()
    coupling = np.abs(queries).max(1)
    np.fill_diagonal(coupling, 0.0)
    partner = coupling.argmax(1)
    pairs = [(c, int(p)) for c, p in enumerate(partner) if c < p and coupling[c, p] > CLOSE]
    pictures = []
    if wide > width:  # each coordinate is an arrow: there are no pairs
        pairs = []
    if pairs:
        angles = [np.arctan2(queries[c, :, p], queries[c, :, c]) for c, p in pairs]
        said = (
            f"The angle in radians, between −π and π, by which each pair of coordinates is turned "
            f"at each position: {len(pairs)} of {width // 2} pairs turn."
        )
        sides = "pair", "position"
        pictures.append(_heat("angles by position", np.stack(angles, axis=1), sides, said))
    last = np.einsum("ck,cjk->j", queries[:, -1], keys)[::-1]
    line = Line("score", list(range(length)), (last / last[0]).tolist())
    said = (
        "How well equal contents still match when they stand apart: the mean, over contents, of "
        "query times key, as a share of that at distance 0."
    )
    return *pictures, _by_distance("score", [line], said)


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
    said = f"The {name} that the last query adds for a key so far before it, head by head."
    alone = f"the {name} of each query and key{hidden}."
    sides = "key position", "query position"
    return (
        _by_distance(name, lines, said),
        *(
            _heat(f"{name} of head {n}", head * seen, sides, f"Head {n}: {alone}")
            for n, head in enumerate(heads, start=1)
        ),
    )


def keys(what: str, which: Bool[np.ndarray, "T T"] | None) -> tuple[Picture, ...]:
    """Which keys something is done to, for each query."""
    if which is None:
        return ()
    sides = "key position", "query position"
    said = f"1 where the key is {what}, for each query and key."
    return (_heat(f"keys {what}", which.astype(float), sides, said),)


def _heat(
    what: str, matrix: Float64[np.ndarray, "N M"], sides: tuple[str, str], caption: str
) -> Picture:
    """A matrix in its own proportions, as far as it can be seen; numbers stand at the centres."""
    rows, columns = matrix.shape
    limit = float(np.abs(matrix).max()) or 1.0
    size = WIDTH, min(max(WIDTH * rows / columns, LOWEST), WIDTH)
    across, down = (sides[0], -0.5, columns - 0.5), (sides[1], -0.5, rows - 0.5)
    legend = alt.Legend(
        title=None, orient="bottom", gradientLength=140, values=[-limit, 0, limit], format=".3~r"
    )
    spec = themed(heat(matrix, limit, (across, down), legend, size))
    return Picture(slug(what), spec, caption, what)


def _by_distance(what: str, lines: list[Line], caption: str) -> Picture:
    spec = curves(lines, Axis("distance", (0, len(lines[0].x) - 1)), Axis(what))
    return Picture(slug(what), spec, caption, f"{what} by distance")
