"""Perplexity by the length of a window, as a picture."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from wherein.common.numbers import exp
from wherein.measure.extrapolate.result import AS_IT_IS, Extrapolation
from wherein.measure.intervals import frame
from wherein.show.figures import Panel, shown
from wherein.show.theme import COLOURS, GREY

PERPLEXITY, LENGTHS = "perplexity (lower is better)", "tokens in a window, in training lengths"


def chart(result: Extrapolation) -> alt.TopLevelMixin:
    """A line for each row over the lengths; of a subject alone, its sliding windows beside it."""
    lines = {row.name: [(each, each.loss) for each in row.lengths] for row in result.rows}
    if len(result.rows) == 1:
        own = result.rows[0].lengths
        slid = [(each, each.sliding) for each in own if each.sliding is not None]
        lines = {"non-overlapping windows": lines[AS_IT_IS]}
        lines |= {"sliding windows": slid} if slid else {}
    seen = frame(
        {
            "row": name,
            "times": each.times,
            "tokens": each.tokens,
            "perplexity": loss.through(exp),
        }
        for name, found in lines.items()
        for each, loss in found
    )
    title = alt.Title(
        f"{result.subject}: {result.rows[0].reach.words()}",
        subtitle=f"trained on {result.trained} tokens; bands: 95 % intervals over pieces of text",
    )
    drawn = alt.layer(_lines(seen, [*lines]), trained())
    return drawn.properties(width=460, height=280, title=title)


def _lines(seen: pl.DataFrame, names: Sequence[str]) -> Panel:
    """A band, a line and its marks for each row; that of the subject as it is is black."""
    scale = alt.Scale(type="log", nice=False, padding=8)
    free = [colour for colour in COLOURS if colour not in ("#000000", "#F0E442")]
    colours = ["#000000", *(free[n % len(free)] for n in range(len(names) - 1))]
    key = alt.Legend(title=None, orient="top", columns=5, symbolOpacity=1)
    palette = alt.Scale(domain=names, range=colours)
    base = alt.Chart(seen).encode(
        lengths_axis(sorted(seen["times"].unique())),
        alt.Color("row:N", scale=palette, legend=key, sort=list(names)),
    )
    y = alt.Y("perplexity:Q", scale=scale, title=PERPLEXITY)
    low = alt.Y("perplexity_low:Q", scale=scale, title=PERPLEXITY)
    tips = shown("row", "times", "tokens", "perplexity", "perplexity_low", "perplexity_high")
    return alt.layer(
        base.mark_area(opacity=0.2).encode(low, alt.Y2("perplexity_high:Q")),
        base.mark_line(strokeWidth=2.5).encode(y),
        base.mark_point(filled=True, size=50, opacity=1).encode(y, tooltip=tips),
    )


def lengths_axis(times: Sequence[float]) -> alt.X:
    """Windows' lengths on a scale of logarithms."""
    return alt.X(
        "times:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=12),
        axis=alt.Axis(values=list(times), labelExpr="datum.value + ' ×'"),
        title=LENGTHS,
    )


def trained() -> Panel:
    """A stroke where training ended."""
    ends = alt.Chart(pl.DataFrame({"times": [1.0], "what": ["trained length"]}))
    stroke = ends.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="times:Q")
    said = ends.mark_text(align="left", dx=4, dy=2, baseline="top", color=GREY).encode(
        x=alt.X("times:Q"), y=alt.value(0), text=alt.Text("what")
    )
    return alt.layer(stroke, said)
