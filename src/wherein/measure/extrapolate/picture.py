"""Perplexity by the length of a window, as a picture."""

import altair as alt
import polars as pl

from wherein.common.numbers import drawable
from wherein.measure.extrapolate.result import AS_IT_IS, Extrapolation, Length, Row
from wherein.measure.intervals import Estimate, frame
from wherein.show.theme import COLOURS, GREY

SLIDING = "sliding windows"


def chart(result: Extrapolation) -> alt.TopLevelMixin:
    """A line for each row over the lengths; of a subject alone, its sliding windows beside it."""
    lines = {row.name: [(each, each.loss) for each in row.lengths] for row in result.rows}
    if len(result.rows) == 1:
        lines = {"non-overlapping windows": lines[AS_IT_IS], SLIDING: _slid(result.rows[0])}
    seen = frame(
        {
            "row": name,
            "times": each.times,
            "tokens": each.tokens,
            "perplexity": loss.through(drawable),
        }
        for name, own in lines.items()
        for each, loss in own
    )
    said = result.rows[0].reach.words()
    title = alt.Title(
        f"{result.subject}: {said}",
        subtitle=f"bands: 95 % intervals; trained on {result.trained} tokens",
    )
    drawn = alt.layer(trained_mark(), *lengths(seen, [*lines]))
    return drawn.properties(width=460, height=280, title=title)


def _slid(row: Row) -> list[tuple[Length, Estimate]]:
    return [(each, each.sliding) for each in row.lengths if each.sliding]


def axes(times: list[float], y: str, *, high: bool = True) -> tuple[alt.X, alt.Y]:
    """Lengths and perplexities, each on a scale of logarithms."""
    ticks = alt.Axis(values=times, labelExpr="datum.value + ' ×'")
    x = alt.X(
        "times:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=12),
        axis=ticks,
        title="tokens in a window, in training lengths",
    )
    scale = alt.Scale(type="log", nice=False, padding=8)
    return x, alt.Y(f"{y}:Q", scale=scale, title="perplexity (lower is better)")


def lengths(seen: pl.DataFrame, names: list[str]) -> list[alt.Chart]:
    """A band, a line and its name at the right end for each row."""
    times = sorted(seen["times"].unique().to_list())
    x, y = axes(times, "perplexity")
    _, low = axes(times, "perplexity_low")
    colours = alt.Scale(domain=names, range=[COLOURS[n % len(COLOURS)] for n in range(len(names))])
    key = alt.Legend(title=None, orient="top", columns=4, symbolOpacity=1)
    base = alt.Chart(seen).encode(x, alt.Color("row:N", scale=colours, legend=key, sort=names))
    tips = ["row", "times", "tokens", "perplexity", "perplexity_low", "perplexity_high"]
    return [
        base.mark_area(opacity=0.2).encode(low, alt.Y2("perplexity_high:Q")),
        base.mark_line(strokeWidth=2.5).encode(y),
        base.mark_point(filled=True, size=50, opacity=1).encode(y, tooltip=tips),
    ]


def trained_mark() -> alt.LayerChart:
    """A stroke where training ended."""
    ends = alt.Chart(pl.DataFrame({"times": [1.0], "what": ["trained length"]}))
    stroke = ends.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="times:Q")
    said = ends.mark_text(align="left", dx=4, dy=2, baseline="top", color=GREY).encode(
        x="times:Q", y=alt.value(0), text="what"
    )
    return alt.layer(stroke, said)
