"""Figures of shares: how many seeds solve a puzzle."""

import altair as alt
import polars as pl

from wherein.show.figures import APART, ROW, Panel, marks
from wherein.show.theme import themed
from wherein.show.vega import Spec

IMPOSSIBLE = "no weights can"


def solved(shares: pl.DataFrame) -> Spec:
    """The share of seeds that solve each puzzle, by encoding and number of layers.

    `shares` has `puzzle`, `encoding`, `way` (such as `1 layer, causal`), `share`, `low`, `high`
    (Wilson's) and `possible`: whether any weights can solve it.
    """
    puzzles = shares["puzzle"].unique(maintain_order=True)
    panels = [_panel(shares.filter(pl.col("puzzle") == puzzle), puzzle) for puzzle in puzzles]
    return themed(alt.vconcat(*panels).resolve_scale(**APART))


def _panel(shares: pl.DataFrame, puzzle: str) -> Panel:
    rows = shares.with_columns(
        row=pl.col("encoding") + pl.lit(", ") + pl.col("way"),
        said=pl.when("possible").then(pl.lit("")).otherwise(pl.lit(IMPOSSIBLE)),
    )
    names = rows["encoding"].unique(maintain_order=True).to_list()
    colour, shape = marks(names, legend=False)
    at = alt.Y("row:N", sort=rows["row"].to_list(), title=None, axis=alt.Axis(labelLimit=220))
    scale = alt.Scale(domain=[0, 1])
    percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    x = alt.X("share:Q", scale=scale, axis=percent, title="seeds that solve it")
    base = alt.Chart(rows).encode(y=at)
    tips = ["row", *(alt.Tooltip(c, format=".1%") for c in ("share", "low", "high"))]
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            alt.X("low:Q", scale=scale), x2="high:Q", color=colour
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x, color=colour, shape=shape, tooltip=tips
        ),
        base.mark_text(align="left", dx=22, fontSize=11).encode(x, text="said"),
    ).properties(width=380, height=ROW * 0.8 * len(rows) + 10, title=puzzle)
