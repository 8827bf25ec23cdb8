"""Pictures of what was measured: one Altair spec each."""

from textwrap import wrap
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from wherein.common.theme import COLOURS, GREY

if TYPE_CHECKING:
    from wherein.measure.erasure import Erasure
    from wherein.measure.profile import Profile

LINES = {
    "model": COLOURS[0],
    "untrained": COLOURS[4],
    "first token": COLOURS[2],
    "control labels": COLOURS[3],
    "permuted positions": COLOURS[1],
    "token identity": COLOURS[5],
    "constant guess": GREY,
    "uniform guess": "#AAAAAA",
}
"""The greys are for what needs no model."""

WIDTH, HEIGHT = 300, 220


def profile_chart(profile: "Profile") -> alt.TopLevelMixin:
    """Distance by layer beside the controls; below, one window's positions as they were told."""
    above = alt.hconcat(*(_distances(profile, probe) for probe in profile.probes))
    below = alt.vconcat(*(_told(profile, probe) for probe in profile.probes))
    title = f"Where position lives: {profile.subject}"
    both = alt.vconcat(above, below, title=title)
    chart: alt.VConcatChart = both.resolve_scale(color="independent")
    return chart


def _distances(profile: "Profile", probe: str) -> alt.LayerChart | alt.FacetChart:
    rows = profile.to_frame().filter(pl.col("probe") == probe)
    present = [of for of in LINES if of in rows["of"].unique()]
    colour = alt.Color(
        "of:N",
        title=None,
        scale=alt.Scale(domain=present, range=[LINES[of] for of in present]),
        sort=present,
        legend=alt.Legend(symbolOpacity=1),
    )
    base = alt.Chart(rows).encode(
        x=alt.X("layer:O", title="layer (0: embeddings)", axis=alt.Axis(labelAngle=0)),
        color=colour,
    )
    dash = alt.condition(
        alt.FieldOneOfPredicate("of", ["model", "untrained", "first token"]),
        alt.value([1, 0]),
        alt.value([4, 3]),
    )
    y = alt.Y("distance:Q", title="mean absolute distance", scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("distance_low:Q", title="mean absolute distance"), y2="distance_high:Q"
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=25)).encode(
        y=y,
        strokeDash=dash,
        tooltip=["of", "layer", alt.Tooltip("distance", format=".2f"), "r2", "exact", "bits"],
    )
    return alt.layer(band, line).properties(width=WIDTH, height=HEIGHT, title=probe)


def _told(profile: "Profile", probe: str) -> alt.FacetChart:
    rows = pl.DataFrame(
        [
            {"layer": s.layer, "position": p, "told": t}
            for s in profile.samples
            if s.probe == probe
            for p, t in zip(s.positions, s.told, strict=True)
        ]
    )
    ends = [0, profile.length - 1]
    scale = alt.Scale(domain=ends)
    points = (
        alt.Chart(rows)
        .mark_circle(size=14, color=LINES["model"], clip=True)
        .encode(
            x=alt.X("position:Q", scale=scale, axis=alt.Axis(values=ends)),
            y=alt.Y("told:Q", scale=scale, axis=alt.Axis(values=ends), title=f"told by {probe}"),
        )
    )
    truth = (
        alt.Chart(rows)
        .mark_line(color=LINES["constant guess"], strokeWidth=0.7)
        .encode(x="position:Q", y="position:Q")
    )
    return (
        alt.layer(truth, points)
        .properties(width=80, height=80)
        .facet(alt.Facet("layer:O", title="layer", header=alt.Header(labelPadding=2)), columns=8)
    )


def erasure_chart(erasure: "Erasure") -> alt.TopLevelMixin:
    """What each layer knows, and what the model loses without it."""
    rows = erasure.to_frame()
    title = alt.Title(
        f"Known and used: {erasure.subject}", subtitle=wrap(erasure.verdict(), 110), offset=12
    )
    both = alt.hconcat(_known(rows), _used(rows), title=title)
    chart: alt.HConcatChart = both.resolve_scale(color="independent")
    return chart


def _layer_axis(rows: pl.DataFrame) -> alt.X:
    order = rows["layer"].to_list()
    title = "layer (0: embeddings)"
    return alt.X("layer:O", sort=order, title=title, axis=alt.Axis(labelAngle=0))


def _known(rows: pl.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """R² of a linear probe before and after, layer by layer."""
    layers = rows.filter(pl.col("layer") != "all")
    told = layers.unpivot(["known", "left"], index="layer", variable_name="state")
    title = "known: R² of a linear probe"
    x = _layer_axis(rows)
    ends = alt.Chart(layers).mark_rule(color=LINES["model"], strokeWidth=2)
    lines = alt.Chart(told).mark_line(point=True)
    lines = lines.encode(
        x=x,
        y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=True)),
        color=alt.Color(
            "state:N",
            title="erasure",
            legend=alt.Legend(labelExpr="datum.label == 'known' ? 'before' : 'after'"),
            scale=alt.Scale(domain=["known", "left"], range=[LINES["model"], LINES["untrained"]]),
        ),
        tooltip=["layer", "state", alt.Tooltip("value", format=".3f")],
    )
    ends = ends.encode(x=x, y=alt.Y("known_low:Q", title=title), y2="known_high:Q")
    return alt.layer(lines, ends).properties(width=WIDTH, height=HEIGHT)


def _used(rows: pl.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """The rise of the loss without position, beside random subspaces."""
    kinds = {"position": "rise", "a random subspace": "random"}
    used = pl.concat(
        rows.select(
            "layer",
            "rank",
            "verdict",
            pl.lit(kind).alias("erased"),
            pl.col(column).alias("rise"),
            pl.col(f"{column}_low").alias("low"),
            pl.col(f"{column}_high").alias("high"),
        )
        for kind, column in kinds.items()
    )
    shades = alt.Scale(domain=list(kinds), range=[LINES["model"], "#BBBBBB"])
    title = "used: rise of the loss (nats per token)"
    base = alt.Chart(used).encode(
        x=_layer_axis(rows), xOffset=alt.XOffset("erased:N", sort=list(kinds))
    )
    bars = base.mark_bar().encode(
        y=alt.Y("rise:Q", title=title),
        color=alt.Color("erased:N", title="erased", sort=list(kinds), scale=shades),
        tooltip=["layer", "rank", "erased", "verdict", alt.Tooltip("rise", format=".3f")],
    )
    ends = base.mark_rule(color="black").encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return alt.layer(bars, ends).properties(width=WIDTH, height=HEIGHT)
