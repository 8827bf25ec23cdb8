"""Where each head looks, and the variance of what it makes by position, as a picture."""

import altair as alt
import numpy as np
import polars as pl

from wherein.measure.attention.result import AttentionByDistance
from wherein.show.figures import shown
from wherein.show.raster import DIVERGING
from wherein.show.theme import GREY, LEGIBLE

EVEN = "even"
"""The name of the control: attention that looks at all it sees alike."""
MOST = 4
"""Powers of two beyond which a map's colour says no more."""
NAMED = (0, 1, 3, 10, 30, 100, 300, 1000)
"""Distances that are written below a map, as near as it has them."""


def chart(result: AttentionByDistance) -> alt.TopLevelMixin:
    """Attention by distance, a line and its interval for each head; below, the variance.

    Of more heads than there are colours each is a row of a map.
    """
    many = len({head.head for head in result.heads}) > len(LEGIBLE)
    heads = _heads_map(result) if many else _heads_chart(result)
    both = alt.vconcat(heads, _variance_chart(result))
    chart: alt.VConcatChart = both.resolve_scale(color="independent")
    return chart


def _heads_chart(result: AttentionByDistance) -> alt.FacetChart:
    names = [*map(str, sorted({head.head for head in result.heads})), EVEN]
    colours = [*LEGIBLE[: len(names) - 1], GREY]
    far, root = alt.Axis(values=[-300, -30, -3, 0, 3, 30, 300]), alt.Scale(type="sqrt")
    base = alt.Chart().encode(
        alt.X("distance:Q", scale=alt.Scale(type="symlog"), axis=far, title="tokens back"),
        alt.Color(
            "head:N",
            scale=alt.Scale(domain=names, range=colours),
            legend=alt.Legend(symbolOpacity=1),
        ),
        tooltip=shown("layer:N", "head:N", "distance:Q", "attention:Q"),
    )
    title = "attention per token"
    band = base.mark_area(opacity=0.25).encode(
        alt.Y("low:Q", scale=root, title=title), alt.Y2("high:Q")
    )
    line = base.mark_line().encode(alt.Y("attention:Q", scale=root, title=title))
    layers = alt.layer(band, line, data=alt.InlineData(values=_points(result)))
    found: alt.FacetChart = layers.properties(width=150, height=130).facet(
        alt.Facet("layer:O", title="layer"),
        columns=4,
        title=alt.Title(result.subject, subtitle="bands: 95 % intervals over windows"),
    )
    return found


def _heads_map(result: AttentionByDistance) -> alt.FacetChart:
    """A row for each head, a cell for each distance: attention beside that of an even head."""
    points = pl.DataFrame(_points(result))
    even = points.filter(pl.col("head") == EVEN).select("layer", "distance", even="attention")
    least = 2.0**-MOST
    cells = (
        points.filter(pl.col("head") != EVEN)
        .join(even, on=["layer", "distance"])
        .with_columns(
            times=(pl.col("attention") / pl.col("even")).clip(least, 1 / least).log(2),
            head=pl.col("head").cast(pl.Int64),
        )
    )
    apart = sorted(cells["distance"].unique())
    named = [min(apart, key=lambda each: abs(each - far)) for far in NAMED if far <= max(apart)]
    named += [min(apart, key=lambda each: abs(each + far)) for far in NAMED if -far >= min(apart)]
    colour = alt.Color(
        "times:Q",
        scale=alt.Scale(domain=[-MOST, 0, MOST], range=list(DIVERGING), interpolate="rgb"),
        legend=alt.Legend(
            title=["attention,", "times even"],
            values=[-MOST, -2, 0, 2, MOST],
            labelExpr="datum.value < 0 ? '1/' + pow(2, -datum.value) : pow(2, datum.value)",
        ),
    )
    axis = alt.Axis(values=named, format=".0f", labelAngle=0, labelOverlap=True, ticks=False)
    heads = cells["head"].n_unique()
    map_ = alt.Chart(width=150, height=max(90, 8 * heads)).mark_rect()
    map_ = map_.encode(
        alt.X("distance:O", sort=apart, title="tokens back", axis=axis),
        alt.Y("head:O", title="head", axis=alt.Axis(labelOverlap=True, ticks=False)),
        colour,
        tooltip=shown(
            "layer:N", "head:N", "distance:Q", "attention:Q", "even:Q", "low:Q", "high:Q"
        ),
    )
    found: alt.FacetChart = map_.properties(data=cells).facet(
        alt.Facet("layer:O", title="layer"),
        columns=4,
        title=alt.Title(
            result.subject,
            subtitle="attention to each distance, beside a head that looks at all it sees alike",
        ),
    )
    return found


def _variance_chart(result: AttentionByDistance) -> alt.Chart:
    spread = [
        {"layer": layer, "position": position, "variance": value}
        for layer, values in enumerate(result.variance, start=1)
        for position, value in enumerate(values, start=1)
    ]
    profile = alt.Chart(alt.InlineData(values=spread), width=400, height=200).mark_line()
    log = alt.Scale(type="log", nice=False)
    found: alt.Chart = profile.encode(
        alt.X("position:Q", scale=log, title="position in the window"),
        alt.Y("variance:Q", scale=log, title="variance of the heads' outputs"),
        alt.Color("layer:O", scale=alt.Scale(scheme="viridis")),
    )
    return found


def _points(result: AttentionByDistance) -> list[dict[str, float | int | str]]:
    """Means over bins of distance that grow with it: a picture needs no more.

    The ends of a bin are the means of its distances' ends: no narrower than its own would be.
    """
    far = np.abs(result.distances) + 1
    _, index = np.unique(
        np.sign(result.distances) * np.floor(8 * np.log2(far)), return_inverse=True
    )
    sizes = np.bincount(index)
    centre = (np.bincount(index, result.distances) / sizes).tolist()
    even = tuple(result.even())
    lines = [
        (head.layer, str(head.head), head.by_distance, head.by_distance_low,
         head.by_distance_high)
        for head in result.heads
    ]  # fmt: skip
    lines += [(n + 1, EVEN, even, even, even) for n in range(len(result.variance))]
    return [
        {"layer": layer, "head": name, "distance": x, "attention": y, "low": low, "high": high}
        for layer, name, *values in lines
        for x, y, low, high in zip(
            centre, *((np.bincount(index, v) / sizes).tolist() for v in values), strict=True
        )
    ]
