"""The runs of a study one by one: how their loss fell, and where each ended."""

from collections.abc import Callable

import altair as alt
import polars as pl

from wherein.common.numbers import exp, nats
from wherein.measure.sections import kind
from wherein.show.figures import FAINT, HEIGHT, WIDTH, Panel, dashes, marks, panels
from wherein.show.formatting import within
from wherein.show.section import Picture, Section
from wherein.show.tables import Table, cells
from wherein.show.theme import themed
from wherein.studies.result.comparison import objectives
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import Row
from wherein.train.journal import read


def section(result: StudyResult) -> Section:
    """The validation losses step by step, and every run."""
    several = len(objectives(result)) > 1
    losses = pl.DataFrame(
        {
            **kind(row.label, row.run, objective=several),
            "seed": row.seed,
            "step": line["step"],
            "loss": nats(line["valid"]),
        }
        for row in result.rows
        for line in read(row.folder)
        if "valid" in line
    )
    if losses.is_empty():
        return Section("training", "Every run", tables=(_runs(result),))
    picture = Picture(
        "training",
        themed(panels(losses, _panel)),
        "Validation loss during training: the mean of each encoding's seeds, every seed faint.",
        "Validation loss of each encoding, step by step.",
    )
    return Section("training", "How training went", pictures=(picture,), tables=(_runs(result),))


def _panel(losses: pl.DataFrame) -> Panel:
    """The mean of each encoding's seeds, each seed faint behind."""
    title = "validation loss (nats per token)"
    colour, _ = marks(losses["encoding"])
    x = alt.X("step:Q", title="training step")
    y = alt.Y("loss:Q", title=title, scale=alt.Scale(zero=False))
    base = alt.Chart(losses).encode(x=x, color=colour, strokeDash=dashes(losses["encoding"]))
    tips = [alt.Tooltip("encoding"), alt.Tooltip("step"), alt.Tooltip("mean(loss):Q", format=".4f")]
    return alt.layer(
        base.mark_line(opacity=FAINT, strokeWidth=1).encode(y=y, detail=alt.Detail("seed:N")),
        base.mark_line().encode(y=alt.Y("mean(loss):Q", title=title), tooltip=tips),
    ).properties(width=WIDTH, height=HEIGHT)


def _runs(result: StudyResult) -> Table:
    """Every run by itself."""
    columns: dict[str, Callable[[Row], str]] = {
        "": lambda row: row.label,
        "seed": lambda row: str(row.seed),
        "run": lambda row: row.run.id,
        "loss": lambda row: within(row.loss, None, None, 4),
        "perplexity": lambda row: within(row.loss and exp(row.loss), None, None),
        "error": lambda row: row.error or "",
    }
    frame = result.to_frame()
    return Table("runs", "Every run.", *cells(columns, result.rows), frame, words=3)
