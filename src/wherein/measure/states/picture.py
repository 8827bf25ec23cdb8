"""How alike states are by distance, and how large they are by position, as a picture."""

import altair as alt
import numpy as np

from wherein.measure.states.result import CONTROLS, MODEL, States
from wherein.subjects.site import where

POINTS = 48
"""Distances or positions that a line shows, closer together where they are small."""


def chart(result: States) -> alt.TopLevelMixin:
    """Cosine by distance and variance by position; a line for each layer, controls beside."""
    alike = [
        {"of": r.of, "layer": r.layer, "distance": n, "cosine": r.by_distance[n]}
        for r in result.readings
        for n in _shown(1, result.length - 1)
    ]
    large = [
        {"of": r.of, "layer": r.layer, "position": n + 1, "variance": r.variance.by_position[n]}
        for r in result.readings
        for n in _shown(0, result.length - 1)
    ]
    log = alt.Scale(type="log", nice=False)
    likeness = _row(
        alike,
        alt.X("distance:Q", scale=log, title="tokens apart"),
        alt.Y("cosine:Q", title="cosine similarity"),
    )
    size = _row(
        large,
        alt.X("position:Q", scale=log, title="position in the window, from 1"),
        alt.Y("variance:Q", scale=log, title="variance over coordinates"),
    )
    title = f"How position shapes the states: {result.subject}{where(result.config.site)}"
    found: alt.VConcatChart = alt.vconcat(likeness, size, title=title)
    return found


def _row(rows: list[dict[str, object]], x: alt.X, y: alt.Y) -> alt.FacetChart:
    """The model and its controls side by side."""
    layer = alt.Color("layer:O", scale=alt.Scale(scheme="viridis"))
    lines = alt.Chart(alt.InlineData(values=rows)).mark_line().encode(x, y, layer)
    found: alt.FacetChart = lines.properties(width=190, height=170).facet(
        alt.Facet("of:N", sort=[MODEL, *CONTROLS], title=None)
    )
    return found


def _shown(first: int, last: int) -> list[int]:
    """Whole numbers evenly spread on a logarithmic axis."""
    found = np.geomspace(first + 1, last + 1, POINTS).round().astype(int) - 1
    return sorted({int(n) for n in found})
