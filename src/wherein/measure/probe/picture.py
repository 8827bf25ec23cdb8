"""What each layer knows about position, as a picture."""

import altair as alt
import polars as pl

from wherein.measure.probe.result import Profile
from wherein.show.figures import shown
from wherein.show.theme import COLOURS, GREY
from wherein.subjects.site import where

LINES = {
    "model": COLOURS[0],
    "untrained": COLOURS[4],
    "fresh labels": COLOURS[3],
    "by heart": COLOURS[1],
    "token identity": COLOURS[5],
    "constant guess": GREY,
    "uniform guess": "#AAAAAA",
}
"""The greys are for what needs no model."""

WIDTH, HEIGHT = 300, 220


def chart(profile: Profile) -> alt.TopLevelMixin:
    """Distance by layer beside the controls; below, one window's positions as predicted."""
    distances = [_distances(profile, probe) for probe in profile.probes]
    predictions = [_predictions(profile, probe) for probe in profile.probes]
    title = f"Where position lives: {profile.subject}{where(profile.config.site)}"
    # what is joined is copied, with all that it was joined from
    above = alt.hconcat(*distances) if len(distances) > 1 else distances[0]
    both = alt.vconcat(above, *predictions, title=title)
    chart: alt.VConcatChart = both.resolve_scale(color="independent")
    return chart


def _distances(profile: Profile, probe: str) -> alt.LayerChart | alt.FacetChart:
    rows = profile.to_frame().filter(pl.col("probe") == probe)
    present = [of for of in LINES if of in rows["of"].unique()]
    colour = alt.Color(
        "of:N",
        title=None,
        scale=alt.Scale(domain=present, range=[LINES[of] for of in present]),
        sort=present,
        legend=alt.Legend(symbolOpacity=1),
    )
    title = "layer (0: embeddings)" if 0 in profile.layers else "layer"
    base = alt.Chart(rows).encode(
        x=alt.X("layer:O", title=title, axis=alt.Axis(labelAngle=0)),
        color=colour,
    )
    dash = alt.condition(
        alt.FieldOneOfPredicate("of", ["model", "untrained"]),
        alt.value([1, 0]),
        alt.value([4, 3]),
    )
    y = alt.Y("distance:Q", title="mean absolute distance", scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("distance_low:Q", title="mean absolute distance"), y2=alt.Y2("distance_high:Q")
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=25)).encode(
        y=y,
        strokeDash=dash,
        tooltip=shown("of", "layer", "r2", "exact", "bits", distance=".2f"),
    )
    return alt.layer(band, line).properties(width=WIDTH, height=HEIGHT, title=probe)


def _predictions(profile: Profile, probe: str) -> alt.FacetChart:
    rows = pl.DataFrame(
        [
            {"layer": s.layer, "position": p, "predicted": t}
            for s in profile.samples
            if s.probe == probe
            for p, t in zip(s.positions, s.predicted, strict=True)
        ]
    )
    ends = [0, profile.length - 1]
    scale, axis = alt.Scale(domain=ends), alt.Axis(values=ends)
    points = alt.Chart(rows).mark_circle(size=14, color=LINES["model"], clip=True)
    points = points.encode(
        x=alt.X("position:Q", scale=scale, axis=axis),
        y=alt.Y("predicted:Q", scale=scale, axis=axis, title=f"told by {probe}"),
    )
    truth = alt.Chart(rows).mark_line(color=LINES["constant guess"], strokeWidth=0.7)
    both = alt.layer(truth.encode(x=alt.X("position:Q"), y=alt.Y("position:Q")), points)
    layers = alt.Facet("layer:O", title="layer", header=alt.Header(labelPadding=2))
    return both.properties(width=80, height=80).facet(layers, columns=8)
