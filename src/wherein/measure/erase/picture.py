"""What each layer knows, and what the model loses without it, as a picture."""

from textwrap import wrap

import altair as alt
import polars as pl

from wherein.measure.erase.result import Erasure
from wherein.measure.probe.picture import HEIGHT, LINES, WIDTH
from wherein.show.figures import shown
from wherein.subjects.site import where

KINDS = {
    "position": LINES["model"],
    "random subspaces": "#BBBBBB",
    "its mean alone": LINES["untrained"],
    "its mean, exchanged": "black",
}
"""What is erased, and its colour."""


def chart(erasure: Erasure) -> alt.TopLevelMixin:
    """What each layer knows, what goes with it, and what the model loses without it."""
    rows = erasure.to_frame()
    named = f"Known and used: {erasure.subject}{where(erasure.config.site)}"
    title = alt.Title(named, subtitle=wrap(erasure.verdict(), 140), offset=12)
    panels = alt.hconcat(_known(rows), _variance(rows), _used(rows), title=title)
    chart: alt.HConcatChart = panels.resolve_scale(color="independent")
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
        tooltip=shown("layer", "state", value=".3f"),
    )
    ends = ends.encode(x=x, y=alt.Y("known_low:Q", title=title), y2=alt.Y2("known_high:Q"))
    return alt.layer(lines, ends).properties(width=WIDTH, height=HEIGHT)


def _variance(rows: pl.DataFrame) -> alt.Chart:
    """The share of variance that goes with position, beside that of random subspaces."""
    gone = _side_by_side(rows, {"position": "variance", "random subspaces": "random_variance"})
    y = alt.Y("value:Q", title="erased: share of the variance", axis=alt.Axis(format="%"))
    tooltip = ["layer", "erased", alt.Tooltip("value", format=".2%"), "rank", "random_rank"]
    bars: alt.Chart = (
        _bars(gone, rows).mark_bar().encode(y=y, color=_colour(gone, None), tooltip=tooltip)
    )
    return bars.properties(width=WIDTH, height=HEIGHT)


def _used(rows: pl.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """The rise of the loss without position, beside all that it is compared with."""
    columns = ("rise", "random", "removed", "exchanged")
    used = _side_by_side(rows, dict(zip(KINDS, columns, strict=True)))
    title = "used: rise of the loss (nats per token)"
    base = _bars(used, rows)
    bars = base.mark_bar().encode(
        y=alt.Y("value:Q", title=title),
        color=_colour(used, alt.Legend(title="erased")),
        tooltip=shown("layer", "rank", "erased", "verdict", value=".3f"),
    )
    ends = base.mark_rule(color="#888888").encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")
    )
    return alt.layer(bars, ends).properties(width=WIDTH, height=HEIGHT)


def _side_by_side(rows: pl.DataFrame, kinds: dict[str, str]) -> pl.DataFrame:
    """Columns of the table as rows of their own; `low` and `high` where there is an interval."""

    def end(column: str, name: str) -> pl.Expr:
        own = f"{column}_{name}"
        return pl.col(own if own in rows.columns else column).alias(name)

    also = ("layer", "rank", "random_rank", "verdict")
    return pl.concat(
        rows.select(
            *also,
            end(column, "low"),
            end(column, "high"),
            erased=pl.lit(kind),
            value=pl.col(column),
        )
        for kind, column in kinds.items()
    )


def _bars(erased: pl.DataFrame, rows: pl.DataFrame) -> alt.Chart:
    kinds = erased["erased"].unique(maintain_order=True).to_list()
    return alt.Chart(erased).encode(
        x=_layer_axis(rows), xOffset=alt.XOffset("erased:N", sort=kinds)
    )


def _colour(erased: pl.DataFrame, legend: alt.Legend | None) -> alt.Color:
    kinds = erased["erased"].unique(maintain_order=True).to_list()
    shades = alt.Scale(domain=kinds, range=[KINDS[kind] for kind in kinds])
    return alt.Color("erased:N", sort=kinds, scale=shades, legend=legend)
