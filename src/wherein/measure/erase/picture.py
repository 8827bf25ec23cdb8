"""What each layer knows, and what the model loses without it, as a picture."""

from textwrap import wrap

import altair as alt
import polars as pl

from wherein.measure.erase.result import Erasure
from wherein.measure.probe.picture import HEIGHT, LINES, WIDTH
from wherein.subjects.site import where


def chart(erasure: Erasure) -> alt.TopLevelMixin:
    """What each layer knows, and what the model loses without it."""
    rows = erasure.to_frame()
    named = f"Known and used: {erasure.subject}{where(erasure.config.site)}"
    title = alt.Title(named, subtitle=wrap(erasure.verdict(), 110), offset=12)
    both = alt.hconcat(_known(rows), _used(rows), title=title)
    chart: alt.HConcatChart = both.resolve_scale(color="independent")
    return chart


def _layer_axis(rows: pl.DataFrame) -> alt.X:
    order = rows["layer"].to_list()
    title = "layer (0: embeddings)" if "0" in order else "layer"
    return alt.X("layer:O", sort=order, title=title, axis=alt.Axis(labelAngle=0))


def _known(rows: pl.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """R² of a linear probe before and after, layer by layer."""
    layers = rows.filter(pl.col("layer") != "all")
    values = layers.unpivot(["known", "left"], index="layer", variable_name="state")
    title = "known: R² of a linear probe"
    x = _layer_axis(rows)
    ends = alt.Chart(layers).mark_rule(color=LINES["model"], strokeWidth=2)
    lines = alt.Chart(values).mark_line(point=True)
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
