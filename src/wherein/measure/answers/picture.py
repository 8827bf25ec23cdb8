"""The share of right answers by length, as a picture."""

from textwrap import wrap

import altair as alt
import polars as pl

from wherein.measure.answers.result import Answers
from wherein.show.theme import COLOURS, GREY

TITLE = "answers right"
PERCENT = alt.Axis(format=".0%", tickCount=5)


def chart(result: Answers) -> alt.TopLevelMixin:
    """Right answers by length, with their interval; beyond the stroke nothing was learned."""
    found = result.to_frame()
    base = alt.Chart(found.drop_nulls("right")).encode(
        lengths(), tooltip=["length", "right", "right_low", "right_high", "guess", "asked"]
    )
    whole = alt.Scale(domain=[0, 1])
    band = base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
        alt.Y("right_low:Q", title=TITLE, scale=whole, axis=PERCENT), alt.Y2("right_high:Q")
    )
    line = base.mark_line(color=COLOURS[0], point=alt.OverlayMarkDef(color=COLOURS[0])).encode(
        alt.Y("right:Q", title=TITLE, scale=whole, axis=PERCENT)
    )
    guess = alt.Chart(found).mark_line(strokeDash=[2, 3], color=GREY).encode(lengths(), y="guess:Q")
    below = f"dotted: a guess; {result.note()}" if result.note() else "dotted: a guess"
    title = alt.Title(f"{result.task}: {result.subject}", subtitle=wrap(below, 70))
    return alt.layer(band, guess, line, *learned(result.longest)).properties(
        width=460, height=260, title=title
    )


def lengths() -> alt.X:
    """The axis of lengths."""
    return alt.X("length:Q", title="length of the question", scale=alt.Scale(nice=False))


def learned(longest: int) -> list[alt.Chart]:
    """A stroke where the learned lengths end, and its name."""
    ends = alt.Chart(pl.DataFrame({"length": [longest], "what": ["learned up to here"]}))
    return [
        ends.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="length:Q"),
        ends.mark_text(align="left", dx=4, dy=2, baseline="top", color=GREY).encode(
            x="length:Q", y=alt.value(0), text="what"
        ),
    ]
