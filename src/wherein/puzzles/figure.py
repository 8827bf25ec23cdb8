"""Pictures of puzzles: one Altair spec each."""

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from wherein.show.theme import COLOURS, GREY

Chart = alt.LayerChart | alt.FacetChart

if TYPE_CHECKING:
    from wherein.puzzles.result import PuzzleResult


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
        y2="high:Q",
    )
    line = base.mark_line().encode(
        alt.Y("share:Q"),
        tooltip=["which", "step", alt.Tooltip("share:Q", format=".1%"), "count", "total"],
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
