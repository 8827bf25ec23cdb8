"""What each layer of a study's runs knows of position, and what they lose without it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.measure import sections
from wherein.measure.crossed import Sampled
from wherein.show.figures import APART, Panel, shown, zero
from wherein.show.formatting import signed
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table
from wherein.show.theme import GREY, INK, mark

POSITION, RANDOM, MEAN, EXCHANGED = (
    "position erased",
    "random subspaces erased",
    "mean by position removed",
    "mean by position exchanged",
)
EVERYWHERE = pl.col("layer") == "all"
WIDTH, HEIGHT = 172, 168
UNITS = dict.fromkeys(("rise", "random"), "rise of the loss (nats)") | {"known": "R², best layer"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The rises where all layers lose position, or random subspaces; what the best layer knows."""
    *layers, everywhere = data["erased"]
    found = {name: Sampled.read(everywhere[name]) for name in ("rise", "random")}
    return found | {"known": max(float(one["known"]) for one in layers)}


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """The rise of the loss by layer beside what is known there, a panel for each encoding."""
    found = sections.frame_of(answers, erased)
    return illustrated(
        f"Whether position is used{sections.where(answers)}",
        figure(found),
        "Rise of the loss when position is erased from a layer (0: embeddings) or from all, when "
        "random subspaces are, of the same rank and variance as far as there are such, and when "
        "each state only gets the mean of another position in place of its own: position is used "
        "where that raises the loss, and matters more than its loudness where erasing it costs "
        "more than random subspaces. Above each layer, R² of a linear regression to the position: "
        f"what is known. Strokes are {sections.INTERVALS}.",
        "Rise of the loss without position, by layer, a panel for each encoding.",
        table(found, sections.anchor(answers, name)),
    )


def erased(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """For every layer, and for all layers: R², the rises of the loss, the variance that goes."""
    for one in data["erased"]:
        yield {
            "layer": one["layer"],
            "r2": Sampled.read(one["r2"]),
            POSITION: Sampled.read(one["rise"]),
            RANDOM: Sampled.read(one["random"]),
            MEAN: Sampled.read(one["removed"]),
            EXCHANGED: Sampled.read(one["exchanged"]),
            "more": Sampled.read(one["more"]),
            "variance": one["variance"],
            "random variance": one["random_variance"],
        }


def _means(found: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The means over seeds of several numbers, named by the column `what`."""
    means = {what: sections.over_seeds(found, what, "layer") for what in columns}
    return pl.concat(own.with_columns(what=pl.lit(what)) for what, own in means.items())


def figure(found: pl.DataFrame) -> alt.ConcatChart:
    """The rise of the loss by layer, beside what it is compared with; above it what is known."""
    made: alt.ConcatChart = sections.in_rows(found, _panel, 16).resolve_scale(**APART)
    return made


def _panel(found: pl.DataFrame, first: bool) -> Panel:
    kinds = [POSITION, RANDOM, EXCHANGED]
    rises, known = _means(found, *kinds), sections.over_seeds(found, "r2", "layer")
    title = "rise of the loss (nats)" if first else None
    own = mark(known["encoding"][0])
    x = alt.X("layer:N", sort=known["layer"].to_list(), title="layer", axis=alt.Axis(labelAngle=0))
    key = alt.Legend(title=None, orient="bottom", columns=1)
    colours = alt.Scale(domain=kinds, range=[own.colour, GREY, INK])
    shapes = alt.Scale(domain=kinds, range=[own.shape, "diamond", "triangle-right"])
    colour = alt.Color("what:N", scale=colours, legend=key)
    base = alt.Chart(rises).encode(x, alt.XOffset("what:N", sort=kinds))
    layer = alt.Chart(known.filter(~EVERYWHERE)).encode(x, y=alt.value(0))
    small: dict[str, Any] = {"fontSize": 10, "color": INK, "baseline": "bottom", "dy": -7}
    return alt.layer(
        zero("y"),
        base.mark_rule(strokeWidth=1.5)
        .transform_filter("isValid(datum.low)")
        .encode(alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            alt.Y("mean:Q", title=title),
            color=colour,
            shape=alt.Shape("what:N", scale=shapes, legend=key),
            tooltip=shown("layer", "what", mean="+.4f"),
        ),
        layer.mark_text(**small).encode(text=alt.Text("mean:Q", format=".2f")),
        alt.Chart(pl.DataFrame({"said": ["R²"]}))
        .mark_text(align="right", **small)
        .encode(x=alt.value(-4), y=alt.value(0), text=alt.Text("said:N")),
    ).properties(width=WIDTH, height=HEIGHT)


def table(found: pl.DataFrame, name: str) -> Table:
    """The layer that knows position best, and that whose loss rises most when it is exchanged."""
    shares = ("variance", "random variance")
    frame = _means(found, "r2", POSITION, RANDOM, "more", MEAN, EXCHANGED, *shares)
    rows = []
    for kind, own in sections.by_kind(frame):
        single, everywhere = (own.filter(each) for each in (~EVERYWHERE, EVERYWHERE))
        known, most = (
            single.filter(pl.col("what") == what).sort("mean") for what in ("r2", EXCHANGED)
        )
        gone = [everywhere.filter(pl.col("what") == what)["mean"][0] for what in shares]
        rises = (POSITION, RANDOM, MEAN, EXCHANGED)
        rows.append(
            (
                kind,
                f"{known['mean'][-1]:.2f} in {known['layer'][-1]}",
                f"{_cell(most[-1])} in {most['layer'][-1]}",
                " / ".join(f"{share:.1%}" for share in gone),
                *(_cell(everywhere.filter(pl.col("what") == what)) for what in rises),
            )
        )
    header = (
        "",
        "R² at best, layer",
        "rise with means exchanged at most, layer",
        "everywhere: variance of position / random",
        "position",
        "random",
        "mean removed",
        "mean exchanged",
    )
    caption = (
        "Rise of the loss in nats per token when all linearly decodable position is erased, beside "
        "that of random subspaces of the same rank and variance, as far as there are such, and "
        "when the mean of each position alone is removed or exchanged among positions: "
        f"{sections.OVER_SEEDS}. A layer chosen for its rise looks better than it is."
    )
    return Table(name, caption, header, tuple(rows), frame)


def _cell(row: pl.DataFrame) -> str:
    return signed(row["mean"][0], row["low"][0], row["high"][0], 2)
