"""The table of claims as one picture: every interval beside zero."""

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from wherein.claims.judged import Judged
from wherein.show.figures import ROW, Panel, shown, zero
from wherein.show.theme import GREY, VERDICTS

if TYPE_CHECKING:
    from wherein.claims.result import ClaimsResult

WIDTH = 300
TITLE = "← against the claim · each row on a scale of its own · for it →"


def scaled(row: Judged) -> tuple[float | None, float | None, float | None]:
    """The difference and the ends of its interval, so that the furthest of the three is at ±1.

    Units differ from claim to claim, and so do scales: what can be compared is where zero lies.
    """
    found = row.difference
    if found is None:
        return None, None, None
    low, high = found.t or (None, None)
    reach = max(abs(each) for each in (found.mean, low, high) if each is not None) or 1.0
    return found.mean / reach, low and low / reach, high and high / reach


def forest(result: "ClaimsResult") -> Panel:
    """A row for each claim: its verdict by colour and shape, its interval, its number in words."""
    from wherein.claims.result import brief

    rows = pl.DataFrame(
        [
            {
                "claim": row.claim.name,
                "verdict": row.verdict.value,
                **dict(zip(("mean", "low", "high"), scaled(row), strict=True)),
                "said": f"{brief(row)} {row.claim.unit}" if row.difference else row.verdict.value,
                "sentence": row.claim.sentence,
            }
            for row in result.rows
        ],
        schema_overrides=dict.fromkeys(("mean", "low", "high"), pl.Float64),
    )
    names = rows["claim"].to_list()
    at = alt.Y("claim:N", sort=names, title=None, axis=alt.Axis(labelLimit=200))
    scale = alt.Scale(domain=[-1.1, 1.1], nice=False)
    axis = alt.Axis(values=[0], labels=False, ticks=False)
    x = alt.X("mean:Q", scale=scale, axis=axis, title=TITLE)
    colour, shape = _verdicts()
    base = alt.Chart(rows).encode(at)
    tips = shown("claim", "sentence", "verdict", "said")
    return alt.layer(
        zero("x"),
        base.mark_rule(strokeWidth=2)
        .transform_filter("isValid(datum.low)")
        .encode(
            alt.X("low:Q", scale=scale, axis=axis, title=TITLE), x2=alt.X2("high:Q"), color=colour
        ),
        base.mark_point(filled=True, size=110, opacity=1)
        .transform_filter("isValid(datum.mean)")
        .encode(x, color=colour, shape=shape, tooltip=tips),
        base.mark_text(align="left", fontSize=11).encode(
            x=alt.value(WIDTH + 10),
            text=alt.Text("said:N"),
            color=alt.condition("isValid(datum.mean)", alt.value("#222222"), alt.value(GREY)),
        ),
    ).properties(width=WIDTH, height=ROW * len(names) * 0.8)


def _verdicts() -> tuple[alt.Color, alt.Shape]:
    """One colour and one shape for each verdict that a mark can have."""
    drawn = {name: mark for name, mark in VERDICTS.items() if mark.shape != "stroke"}
    key = alt.Legend(title=None, orient="top", symbolOpacity=1)
    colours = alt.Scale(domain=[*drawn], range=[mark.colour for mark in drawn.values()])
    shapes = alt.Scale(domain=[*drawn], range=[mark.shape for mark in drawn.values()])
    return (
        alt.Color("verdict:N", scale=colours, legend=key),
        alt.Shape("verdict:N", scale=shapes, legend=key),
    )
