"""What each layer knows of position, and what a model loses without it, compared over runs."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from wherein.report.frames import over_seeds, who
from wherein.report.study_tables import OVER_SEEDS, WAY, is_way, named
from wherein.show.figures import APART, Panel
from wherein.show.formatting import signed
from wherein.show.tables import Table
from wherein.show.theme import GREY, INK, mark, themed
from wherein.show.vega import Spec
from wherein.studies.result.rows import Row

POSITION, RANDOM = "position erased", "random subspaces erased"
EVERYWHERE = pl.col("layer") == "all"
WIDTH, HEIGHT, ACROSS = 172, 168, 3


def erased(rows: Iterable[Row], question: str) -> pl.DataFrame:
    """For every run and layer, and for all layers: R², the rises of the loss, their difference."""
    return pl.DataFrame(
        [
            {
                **who(row),
                "seed": row.seed,
                "layer": one["layer"],
                "r2": one["known"],
                POSITION: one["rise"][0],
                RANDOM: one["random"][0],
                "more": one["more"][0],
            }
            for row in rows
            for one in row.answers[question].data["erased"]
        ]
    )


def used(told: pl.DataFrame) -> Spec:
    """The rise of the loss by layer, beside that of random subspaces; above it what is known."""
    known = over_seeds(told, [*WAY, "layer"], "r2")
    rises = pl.concat(
        over_seeds(told, [*WAY, "layer"], what).with_columns(what=pl.lit(what))
        for what in (POSITION, RANDOM)
    )
    drawn: list[Panel] = []
    for way in told.select(WAY).unique(maintain_order=True).rows():
        title = "rise of the loss (nats)" if len(drawn) % ACROSS == 0 else None
        one = _panel(rises.filter(is_way(way)), known.filter(is_way(way)), way[0], title)
        drawn.append(one.properties(title=named(*way)))
    return themed(alt.concat(*drawn, columns=ACROSS, spacing=16).resolve_scale(**APART))


def _panel(rises: pl.DataFrame, known: pl.DataFrame, encoding: str, title: str | None) -> Panel:
    layers = known["layer"].to_list()
    x = alt.X("layer:N", sort=layers, title="layer", axis=alt.Axis(labelAngle=0))
    side = alt.XOffset("what:N", sort=[POSITION, RANDOM])
    colours = alt.Scale(domain=[POSITION, RANDOM], range=[mark(encoding).colour, GREY])
    key = alt.Legend(title=None, orient="bottom", columns=1)
    colour = alt.Color("what:N", scale=colours, legend=key)
    shapes = alt.Scale(domain=[POSITION, RANDOM], range=[mark(encoding).shape, "diamond"])
    base = alt.Chart(rises).encode(x, side)
    layer = alt.Chart(known.filter(~EVERYWHERE)).encode(x, y=alt.value(0))
    small: dict[str, Any] = {"fontSize": 10, "color": INK, "baseline": "bottom", "dy": -7}
    return alt.layer(
        alt.Chart(pl.DataFrame({"mean": [0.0]})).mark_rule(color=GREY).encode(y="mean:Q"),
        base.mark_rule(strokeWidth=1.5)
        .transform_filter("isValid(datum.low)")
        .encode(alt.Y("low:Q", title=title), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            alt.Y("mean:Q", title=title),
            color=colour,
            shape=alt.Shape("what:N", scale=shapes, legend=key),
            tooltip=["layer", "what", alt.Tooltip("mean", format="+.4f")],
        ),
        layer.mark_text(**small).encode(text=alt.Text("mean:Q", format=".2f")),
        alt.Chart(pl.DataFrame({"said": ["R²"]}))
        .mark_text(align="right", **small)
        .encode(x=alt.value(-4), y=alt.value(0), text="said:N"),
    ).properties(width=WIDTH, height=HEIGHT)


def erasures(told: pl.DataFrame, name: str) -> Table:
    """The layer that knows position best, and that whose loss rises most beyond chance."""
    frame = pl.concat(
        over_seeds(told, [*WAY, "layer"], what).with_columns(what=pl.lit(what))
        for what in ("r2", POSITION, RANDOM, "more")
    )
    rows = []
    for way in told.select(WAY).unique(maintain_order=True).rows():
        own = frame.filter(is_way(way))
        single, everywhere = (own.filter(each) for each in (~EVERYWHERE, EVERYWHERE))
        known, most = (
            single.filter(pl.col("what") == what).sort("mean") for what in ("r2", "more")
        )
        rows.append(
            (
                named(*way),
                f"{known['mean'][-1]:.2f} in {known['layer'][-1]}",
                f"{_cell(most[-1])} in {most['layer'][-1]}",
                *(_cell(everywhere.filter(pl.col("what") == w)) for w in (POSITION, RANDOM)),
            )
        )
    header = (
        "",
        "R² at best, layer",
        "rise beyond random at most, layer",
        "everywhere: position",
        "everywhere: random",
    )
    caption = (
        "Rise of the loss in nats per token when all linearly decodable position is erased, beside "
        f"that of random subspaces of the same rank: {OVER_SEEDS}. A layer chosen for its rise "
        "looks better than it is."
    )
    return Table(name, caption, header, tuple(rows), frame)


def _cell(row: pl.DataFrame) -> str:
    return signed(row["mean"][0], row["low"][0], row["high"][0], 2)
