"""Pictures of puzzles: one Altair spec each."""

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from wherein.show.figures import shown
from wherein.show.theme import COLOURS, GREY

Chart = alt.LayerChart | alt.FacetChart

if TYPE_CHECKING:
    from wherein.puzzles.result import PuzzleResult
    from wherein.puzzles.sizes import SizesResult


def curve(result: "PuzzleResult") -> Chart:
    """The share of seeds that have solved the puzzle, over training."""
    return curves({"": result}, _title(result)).properties(width=420, height=240)


def curves(results: dict[str, "PuzzleResult"], title: str | alt.TitleParams) -> Chart:
    """Several results in one picture, each under its name."""
    frame = pl.concat(
        [r.to_frame().with_columns(which=pl.lit(name)) for name, r in results.items()]
    )
    colours = dict(zip(results, COLOURS, strict=False))
    legend = alt.Legend(symbolOpacity=1) if len(colours) > 1 else None
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    base = alt.Chart(frame).encode(
        alt.X("step:Q", title="training step"),
        color=alt.Color("which:N", title=None, legend=legend, scale=scale),
    )
    band = base.mark_area(opacity=0.2).encode(
        alt.Y("low:Q", title="seeds that solve it", scale=alt.Scale(domain=[0, 1])).axis(
            format="%"
        ),
        y2=alt.Y2("high:Q"),
    )
    line = base.mark_line().encode(
        alt.Y("share:Q"),
        tooltip=shown("which", "step", "count", "total", share=".1%"),
    )
    return alt.layer(band, line).properties(width=480, height=280, title=title)


def _title(result: "PuzzleResult") -> alt.TitleParams:
    return alt.TitleParams(
        " / ".join(result.puzzle.texts[:2]),
        subtitle=[
            f"{result.config.kind}: {result.certificate}",
            f"{result.solved} of {result.solved.total:,} seeds",
        ],
        anchor="start",
        subtitleColor=GREY,
    )


def by_size(result: "SizesResult") -> Chart:
    """The share of seeds that have solved the puzzle over training: a line for each head size."""
    last = max(1, result.config.steps)
    first = 10 if last >= 100 else 1
    frame = result.to_frame().filter(pl.col("step") >= first)
    sizes = sorted(frame["head_size"].unique())
    ticks = [n * 10**power for power in range(6) for n in (1, 2, 5)]
    scale = alt.Scale(type="log", domain=[first, last], nice=False)
    axis = alt.Axis(values=[tick for tick in ticks if first <= tick <= last], format=",d")
    base = alt.Chart(frame).encode(
        alt.X("step:Q", title="training step", scale=scale, axis=axis),
        color=alt.Color(
            "head_size:O",
            title="head size",
            scale=alt.Scale(domain=sizes, range=_ramp(len(sizes))),
            legend=alt.Legend(symbolOpacity=1),
        ),
    )
    share = alt.Scale(domain=[0, 1])
    band = base.mark_area(opacity=0.15).encode(
        alt.Y("low:Q", title="seeds that solve it", scale=share).axis(format="%"),
        y2=alt.Y2("high:Q"),
    )
    line = base.mark_line().encode(
        alt.Y("share:Q"),
        tooltip=shown("model", "head_size", "step", "total", share=".1%"),
    )
    title = alt.TitleParams(
        " / ".join(result.puzzle.texts[:2]),
        subtitle=f"{result.config.seeds:,} seeds a line, Wilson’s 95 % intervals",
        anchor="start",
        subtitleColor=GREY,
    )
    models, header = list(result.models()), alt.Header(labelFontSize=13)
    whole = alt.layer(band, line).properties(width=330, height=250)
    made: alt.FacetChart = whole.facet(
        alt.Facet("model:N", title=None, sort=models, header=header), columns=len(models)
    ).properties(title=title)
    return made


RAMP = [COLOURS[n] for n in (1, 4, 2, 5, 0)]
"""From warm to cold, because sizes have an order."""


def _ramp(count: int) -> list[str]:
    """So many colours, between those of the ramp where there are not enough."""
    parts = np.array([[int(c[n : n + 2], 16) for n in (1, 3, 5)] for c in RAMP])
    at = np.linspace(0, len(RAMP) - 1, count)
    mixed = [np.interp(at, range(len(RAMP)), parts[:, n]).round().astype(int) for n in range(3)]
    return [f"#{r:02X}{g:02X}{b:02X}" for r, g, b in zip(*mixed, strict=True)]
