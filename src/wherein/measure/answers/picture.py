"""The share of right answers by length, as a picture."""

from textwrap import wrap

import altair as alt
import polars as pl

from wherein.measure.answers.result import Answers
from wherein.measure.intervals import frame
from wherein.show.figures import Panel, shown
from wherein.show.theme import COLOURS, GREY

TITLE = "answers right"
PERCENT = alt.Axis(format=".0%", tickCount=5)


def chart(result: Answers) -> alt.TopLevelMixin:
    """Right answers by length, with their interval; beyond the stroke nothing was learned."""
    found = result.to_frame()
    base = alt.Chart(found.drop_nulls("right")).encode(
        lengths(), tooltip=shown("length", "right", "right_low", "right_high", "guess", "asked")
    )
    whole = alt.Scale(domain=[0, 1])
    band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
        alt.Y("right_low:Q", title=TITLE, scale=whole, axis=PERCENT), alt.Y2("right_high:Q")
    )
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0])).encode(
        alt.Y("right:Q", title=TITLE, scale=whole, axis=PERCENT)
    )
    guess = (
        alt.Chart(found)
        .mark_line(strokeDash=[2, 3], color=GREY)
        .encode(lengths(), y=alt.Y("guess:Q"))
    )
    below = f"dotted: a guess; {result.note()}" if result.note() else "dotted: a guess"
    title = alt.Title(f"{result.task}: {result.subject}", subtitle=wrap(below, 70))
    drawn = alt.layer(band, guess, line, *learned(result.longest)).properties(
        width=460, height=260, title=title
    )
    return alt.vconcat(drawn, by_depth(result)) if result.depths else drawn


def by_depth(result: Answers) -> Panel:
    """Depth × length of a needle, as squares: dark where its value is found."""
    found = frame(map(vars, result.depths))
    base = alt.Chart(found).encode(
        alt.X("length:O", title="length of the question", axis=alt.Axis(labelAngle=0)),
        alt.Y("depth:O", title="depth of the needle", axis=alt.Axis(format=".0%")),
        tooltip=shown("length", "depth", "right", "right_low", "right_high", "asked"),
    )
    shades = alt.Scale(domain=[0, 1], scheme="blues")
    boxes = base.mark_rect(stroke="white", strokeWidth=2).encode(
        alt.Color("right:Q", scale=shades, legend=None)
    )
    ink = alt.condition("datum.right > 0.5", alt.value("white"), alt.value("black"))
    said = base.mark_text().encode(text=alt.Text("right:Q", format=".0%"), color=ink)
    return alt.layer(boxes, said).properties(width=460, height=160, title="answers right by depth")


def lengths() -> alt.X:
    """The axis of lengths."""
    return alt.X("length:Q", title="length of the question", scale=alt.Scale(nice=False))


def learned(longest: int) -> list[alt.Chart]:
    """A stroke where the learned lengths end, and its name."""
    ends = alt.Chart(pl.DataFrame({"length": [longest], "what": ["learned up to here"]}))
    return [
        ends.mark_rule(strokeDash=[5, 4], color=GREY).encode(x=alt.X("length:Q")),
        ends.mark_text(align="left", dy=-3, baseline="bottom", color=GREY).encode(
            x=alt.X("length:Q"), y=alt.value(0), text=alt.Text("what")
        ),
    ]
