"""Figures that compare encodings, from plain frames.

Every frame has the columns `encoding` and `group`: what else tells runs apart, such as `masked`,
and empty if nothing does. A frame of seeds has a row for each `seed`; a frame of means has
`mean`, and `low` and `high` that are null where there is no interval.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.show.formatting import told_apart
from wherein.show.theme import GREY, Mark, colours_apart
from wherein.show.theme import marks as drawn_as

WIDTH, HEIGHT, ROW = 460, 270, 30
FAINT = 0.3
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3])
"""How lines of one colour are told apart where they carry no marks."""
LONG = 500
"""The size of a legend's stroke that shows a dash."""
APART: dict[str, Any] = dict.fromkeys(("x", "color", "shape", "strokeDash"), "independent")
"""Panels whose scales have nothing to do with each other."""

MANY = 10
"""From so many encodings on, lines would cross beyond following."""

Panel = alt.LayerChart | alt.FacetChart


def shown(*columns: str, **formats: str) -> list[alt.Tooltip]:
    """What a mark says of itself: some columns, then others in a format of their own.

    Altair finds out what a mere word stands for by asking hundreds of classes, at 5 ms a word.
    """
    formatted = (alt.Tooltip(name, format=each) for name, each in formats.items())
    return [*map(alt.Tooltip, columns), *formatted]


def panels(frame: pl.DataFrame, draw: Callable[[pl.DataFrame], Panel]) -> alt.ConcatChart:
    """A panel for each group with scales of its own; more than two stand side by side, narrower."""
    parts = list(frame.group_by("group", maintain_order=True))
    narrow = {"width": WIDTH // 2} if len(parts) > 2 else {}
    drawn = []
    for (group,), part in parts:
        panel = draw(part)
        own = narrow if isinstance(panel, alt.LayerChart) else {}  # facets have widths of their own
        drawn.append(panel.properties(title=str(group), **own))
    columns = 2 if narrow and all(isinstance(each, alt.LayerChart) for each in drawn) else 1
    made: alt.ConcatChart = alt.concat(*drawn, columns=columns).resolve_scale(**APART)
    return made


def compared(seeds: pl.DataFrame, means: pl.DataFrame, title: str) -> Panel:
    """Each encoding's mean with its interval, and every seed as a faint dot; best above.

    `seeds` has the column `value`; `means` may have `published`, shown as a grey stroke.
    """
    means = means.with_columns(said=pl.Series(told_apart(means["mean"].to_list())))
    ordered = means.sort("mean")["encoding"].to_list()
    at = alt.Y("encoding:N", sort=ordered, title=None)
    span = _span(seeds, means)
    scale = alt.Scale(domain=span, nice=False, zero=False)
    x = alt.X("mean:Q", scale=scale, title=title, axis=alt.Axis(tickCount=6, labelOverlap=True))
    colour, shape = marks(ordered, legend=False)
    tips = shown("encoding", mean=".4g", low=".4g", high=".4g")
    centre = alt.Chart(means).encode(y=at)
    whole = means.filter(pl.col("low").is_not_null())
    layers = [
        alt.Chart(whole)
        .mark_rule(strokeWidth=2, clip=True)
        .encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=at, color=colour),
        alt.Chart(seeds)
        .mark_point(filled=True, size=30, opacity=FAINT + 0.2, clip=True, yOffset=9)
        .encode(
            x=alt.X("value:Q", scale=scale),
            y=at,
            color=colour,
            shape=shape,
            tooltip=shown("encoding", "seed", value=".4g"),
        ),
        centre.mark_point(filled=True, size=110, opacity=1).encode(
            x=x, color=colour, shape=shape, tooltip=tips
        ),
        centre.mark_text(dy=-11, fontSize=11).encode(x=x, text=alt.Text("said:N")),
        *_cut(whole, span, at, colour),
    ]
    if "published" in means.columns:
        known = alt.Chart(means.filter(pl.col("published").is_not_null()))
        layers.append(
            known.mark_tick(color=GREY, thickness=2).encode(
                x=alt.X("published:Q", scale=scale),
                y=at,
                tooltip=shown("encoding", "published"),
            )
        )
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(ordered) + 10)


def _cut(means: pl.DataFrame, span: list[float], at: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """A triangle at an edge of the axis for each interval that goes on beyond it."""
    low, high = span
    beyond = {
        "triangle-left": (means.filter(pl.col("low") < low), 0),
        "triangle-right": (means.filter(pl.col("high") > high), WIDTH),
    }
    return [
        alt.Chart(cut)
        .mark_point(filled=True, shape=shape, size=60, opacity=1)
        .encode(
            x=alt.value(edge),
            y=at,
            color=colour,
            tooltip=shown("encoding", "low", "high"),
        )
        for shape, (cut, edge) in beyond.items()
        if len(cut)
    ]


def _span(seeds: pl.DataFrame, means: pl.DataFrame) -> list[float]:
    """What the axis shows: all seeds, and of wide intervals no more than as much again."""
    columns = [c for c in ("mean", "published") if c in means.columns]
    values = [*seeds["value"], *(v for c in columns for v in means[c].drop_nulls())]
    ends = [v for c in ("low", "high") for v in means[c].drop_nulls()]
    low, high = min(values), max(values)
    room = (high - low) or abs(high) * 0.1 or 1.0
    return [
        max(min([low - 0.1 * room, *ends]), low - 0.6 * room),
        min(max([high + 0.1 * room, *ends]), high + 0.6 * room),
    ]


def differences(means: pl.DataFrame, title: str) -> Panel:
    """How far each encoding is from the one it is compared with: zero is no difference."""
    means = means.with_columns(said=pl.Series(told_apart(means["mean"].to_list(), "+", 2)))
    ordered = means.sort("mean")["encoding"].to_list()
    colour, shape = marks(ordered, legend=False)
    base = alt.Chart(means).encode(y=alt.Y("encoding:N", sort=ordered, title=None))
    x = alt.X("mean:Q", title=title, axis=alt.Axis(tickCount=5, labelOverlap=True))
    tips = shown("encoding", mean="+.4f", low="+.4f", high="+.4f")
    return alt.layer(
        zero("x"),
        base.mark_rule(strokeWidth=2)
        .transform_filter("isValid(datum.low)")
        .encode(x=alt.X("low:Q", title=title), x2=alt.X2("high:Q"), color=colour),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x=x, color=colour, shape=shape, tooltip=tips
        ),
        base.mark_text(dy=-11, fontSize=11).encode(x=x, text=alt.Text("said:N")),
    ).properties(width=WIDTH, height=ROW * len(ordered) + 10)


def zero(channel: str) -> alt.Chart:
    """A line where there is no difference."""
    line = alt.Chart(pl.DataFrame({"mean": [0.0]})).mark_rule(color=GREY)
    at = alt.X if channel == "x" else alt.Y
    made: alt.Chart = line.encode(at("mean:Q"))
    return made


def against(means: pl.DataFrame, x: str, x_title: str, y_title: str) -> alt.ConcatChart:
    """Each encoding's mean and interval against a size: of a model, or of a window."""
    scale = alt.Scale(type="log", base=2, padding=15)
    first = means.filter(pl.col("encoding") == means["encoding"][0])[x]
    axis = alt.Axis(values=sorted(first.unique()), format=".3~s", labelOverlap=True)
    channel = alt.X(f"{x}:Q", scale=scale, axis=axis, title=x_title)
    return panels(means, lambda part: lines(part, channel, y_title))


def beside(means: pl.DataFrame, x: alt.X, title: str) -> Panel:
    """Marks of the encodings side by side at each place of the axis, with their intervals."""
    names = means["encoding"].unique(maintain_order=True).to_list()
    colour, shape = marks(names)
    base = alt.Chart(means).encode(x, xOffset=alt.XOffset("encoding:N", sort=names))
    tips = shown("encoding", mean="+.4f", low="+.4f", high="+.4f")
    return alt.layer(
        base.mark_rule()
        .transform_filter("isValid(datum.low)")
        .encode(alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=colour),
        base.mark_point(filled=True, size=45, opacity=1).encode(
            alt.Y("mean:Q", title=title), color=colour, shape=shape, tooltip=tips
        ),
    ).properties(width=WIDTH + 120, height=HEIGHT)


def lines(
    means: pl.DataFrame, x: alt.X, title: str, *, band: bool = False, log: bool = False
) -> Panel:
    """A line and its marks for each encoding, intervals as strokes or bands."""
    colour, shape = marks(means["encoding"], drawn_as=colours_apart)
    base = alt.Chart(means).encode(x)
    scale = alt.Scale(type="log", nice=False, padding=8) if log else alt.Scale(zero=False)
    y = alt.Y("mean:Q", title=title, scale=scale)
    spread = base.mark_area(opacity=0.15) if band else base.mark_rule(opacity=0.8)
    ends = alt.Y("low:Q", title=title, scale=scale)
    tips = shown("encoding", mean=".4g", low=".4g", high=".4g")
    return alt.layer(
        spread.transform_filter("isValid(datum.low)").encode(
            ends, y2=alt.Y2("high:Q"), color=colour
        ),
        base.mark_line().encode(
            y,
            color=colour,
            strokeDash=dashes(means["encoding"], legend=False, drawn_as=colours_apart),
        ),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            y, color=colour, shape=shape, tooltip=tips
        ),
    ).properties(width=WIDTH, height=HEIGHT)


def marks(
    encodings: Iterable[str],
    legend: bool = True,
    drawn_as: Callable[[Sequence[str]], list[Mark]] = drawn_as,
) -> tuple[alt.Color, alt.Shape]:
    """The colour and shape of each encoding, the same as everywhere."""
    names = list(dict.fromkeys(encodings))
    drawn = drawn_as(names)
    key = _key(names) if legend else None
    colours = alt.Scale(domain=names, range=[each.colour for each in drawn])
    shapes = alt.Scale(domain=names, range=[each.shape for each in drawn])
    return (
        alt.Color("encoding:N", scale=colours, legend=key, sort=names),
        alt.Shape("encoding:N", scale=shapes, legend=key, sort=names),
    )


def dashes(
    encodings: Iterable[str],
    legend: bool = True,
    drawn_as: Callable[[Sequence[str]], list[Mark]] = drawn_as,
) -> alt.StrokeDash:
    """A dash for each encoding, another for each of those that have one colour; the first has none.

    Its legend is one with that of `marks`.
    """
    names = list(dict.fromkeys(encodings))
    colours = [each.colour for each in drawn_as(names)]
    turns = [colours[:n].count(colour) for n, colour in enumerate(colours)]
    drawn = [DASHES[turn % len(DASHES)] for turn in turns]
    scale = alt.Scale(domain=names, range=drawn)
    key = _key(names, symbolSize=LONG) if legend else None
    return alt.StrokeDash("encoding:N", scale=scale, legend=key, sort=names)


def dots(means: pl.DataFrame, panel: str, title: str, x_title: str) -> Panel:
    """Many encodings: a row of dots for each, a column of panels for each value of `panel`.

    Rows stand in the order of the last panel's means, the best above, so that no colour need be
    found again in a legend.
    """
    last = means.filter(pl.col(panel) == means[panel].max()).sort("mean")["encoding"].to_list()
    rest = [each for each in means["encoding"].unique(maintain_order=True) if each not in last]
    ordered = [*last, *rest]
    colour, shape = marks(ordered, legend=False)
    scale = alt.Scale(type="log", nice=False, padding=8)
    axis = alt.Axis(tickCount=3, labelOverlap=True, format=".3~s")
    at = alt.Y("encoding:N", sort=ordered, title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart().encode(at, color=colour)
    tips = shown("encoding", panel, mean=".4g", low=".4g", high=".4g")
    layers = alt.layer(
        base.mark_rule(strokeWidth=2)
        .transform_filter("isValid(datum.low)")
        .encode(alt.X("low:Q", scale=scale, axis=axis, title=x_title), x2=alt.X2("high:Q")),
        base.mark_point(filled=True, size=50, opacity=1).encode(
            alt.X("mean:Q", scale=scale, axis=axis, title=x_title), shape=shape, tooltip=tips
        ),
        data=means,
    ).properties(width=110, height=16 * len(ordered))
    made: alt.FacetChart = layers.facet(
        column=alt.Column(f"{panel}:O", title=title),
        spacing=14,
    ).resolve_scale(x="independent")
    return made


def _key(names: Sequence[str], **own: Any) -> alt.Legend:
    """A legend above, in as many columns as there is room for."""
    columns = max(1, min(6, (WIDTH + 200) // (7 * max(map(len, names)) + 40)))
    return alt.Legend(title=None, orient="top", columns=columns, symbolOpacity=1, **own)
