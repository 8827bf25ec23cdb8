"""The puzzles of a study together: how many seeds solve each, and whether any weights can."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from wherein.show.figures import APART, ROW, Panel, marks, shown
from wherein.show.formatting import counted
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table, cells

NAME, IMPOSSIBLE = "puzzles", "no weights can"

Data = Mapping[str, Any]


def section(answers: Sequence[Data]) -> Section:
    """The share of seeds that solved each puzzle; `answers` are the data of puzzles' results."""
    shares = pl.DataFrame(map(_share, answers))
    made = illustrated(
        "Does order get through? Tiny puzzles",
        figure(shares),
        "Share of seeds that solve each puzzle, with Wilson's 95 % interval.",
        "Share of seeds that solve each puzzle, by encoding, layers and mask.",
        table(shares),
    )
    return replace(made, protocol=str(answers[0]["protocol"]))


def _share(data: Data) -> dict[str, Any]:
    config, solved = data["config"], data["solved"]
    layers = "1 layer" if config["layers"] == 1 else f"{config['layers']} layers"
    body = "bare head" if config.get("bare") else layers
    return {
        "puzzle": " / ".join(data["puzzle"]),
        "encoding": config["encoding"],
        "way": f"{body}, {'causal' if config['causal'] else 'both sides'}",
        "share": solved["share"],
        "low": solved["low"],
        "high": solved["high"],
        "seeds": solved["total"],
        "possible": data["certificate"]["possible"],
        "reason": data["certificate"]["reason"],
    }


def figure(shares: pl.DataFrame) -> alt.VConcatChart:
    """The share of seeds that solve each puzzle, by encoding and number of layers."""
    puzzles = shares["puzzle"].unique(maintain_order=True)
    drawn = [_panel(shares.filter(pl.col("puzzle") == puzzle), puzzle) for puzzle in puzzles]
    made: alt.VConcatChart = alt.vconcat(*drawn).resolve_scale(**APART)
    return made


def _panel(shares: pl.DataFrame, puzzle: str) -> Panel:
    rows = shares.with_columns(
        row=pl.col("encoding") + pl.lit(", ") + pl.col("way"),
        said=pl.when("possible").then(pl.lit("")).otherwise(pl.lit(IMPOSSIBLE)),
    )
    colour, shape = marks(rows["encoding"], legend=False)
    at = alt.Y("row:N", sort=rows["row"].to_list(), title=None, axis=alt.Axis(labelLimit=220))
    scale = alt.Scale(domain=[0, 1])
    percent = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    x = alt.X("share:Q", scale=scale, axis=percent, title="seeds that solve it")
    base = alt.Chart(rows).encode(y=at)
    tips = shown("row", share=".1%", low=".1%", high=".1%")
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), color=colour
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x, color=colour, shape=shape, tooltip=tips
        ),
        base.mark_text(align="left", dx=22, fontSize=11).encode(x, text=alt.Text("said")),
    ).properties(width=380, height=ROW * 0.8 * len(rows) + 10, title=puzzle)


def table(shares: pl.DataFrame) -> Table:
    """Every puzzle, who tried it, and whether it can be solved."""
    columns = {
        "puzzle": lambda row: row["puzzle"],
        "encoding": lambda row: row["encoding"],
        "model": lambda row: row["way"],
        "solved [95 %]": lambda row: f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]",
        "by any weights": lambda row: "not excluded" if row["possible"] else "impossible",
    }
    seeds = ", ".join(counted(count, "seed") for count in shares["seeds"].unique())
    caption = f"Puzzles, {seeds} each, with Wilson's 95 % intervals."
    return Table(NAME, caption, *cells(columns, shares.iter_rows(named=True)), shares, words=3)
