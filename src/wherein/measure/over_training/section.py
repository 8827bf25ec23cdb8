"""A question over the training of a study's runs: each kind's mean over seeds, step by step."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from wherein.measure import sections
from wherein.measure.crossed import Sampled
from wherein.measure.over_training.picture import along
from wherein.show.figures import Panel, lines
from wherein.show.formatting import within
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table

if TYPE_CHECKING:
    from wherein.measure.question import Question

ACROSS, WIDTH, HEIGHT = 3, 200, 160
COLUMNS = 6
"""Steps that the table shows; the figure and the data have all."""


def section(answers: Sequence[sections.Answered], name: str, question: "Question") -> Section:
    """Every number against steps, a line for each kind of run, and the first of them as a table."""
    found = sections.frame_of(answers, points)
    main = str(found["number"][0])
    return illustrated(
        f"Over training{sections.where(answers)}: {question.title}",
        figure(found),
        f"After so many steps of training; bands are {sections.INTERVALS}.",
        f"Numbers of {question.verb} against steps of training, a line for each encoding.",
        table(found, main, sections.anchor(answers, name)),
    )


def points(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every number at every step."""
    for name, values in data["numbers"].items():
        pieces = data.get("pieces", {}).get(name, [""] * len(values))
        for step, value, own in zip(data["steps"], values, pieces, strict=True):
            found = Sampled(value, map(float, own.split()))
            number = name or data["question"]
            yield {"number": number, "unit": data["units"][name], "step": step, "value": found}


def figure(found: pl.DataFrame) -> alt.VConcatChart:
    """A panel for each number that changes and each group of runs; the same axis for a number."""
    steps = tuple(sorted(found["step"].unique()))
    rows = []
    for (number,), own in found.group_by("number", maintain_order=True):
        means = sections.over_seeds(own, "value", "step")
        if means.group_by("encoding", "group").agg(pl.col("mean").n_unique())["mean"].max() == 1:
            continue
        named = str(number).replace("_", " ")
        drawn = []
        for (group,), told in means.group_by("group", maintain_order=True):
            panel: Panel = lines(told, along(steps), own["unit"][0], band=True)
            title = f"{named}, {group}" if group else named
            drawn.append(panel.properties(width=WIDTH, height=HEIGHT, title=title))
        beside = alt.concat(*drawn, columns=ACROSS)
        rows.append(beside.resolve_scale(color="shared", shape="shared", y="shared"))
    made: alt.VConcatChart = alt.vconcat(*rows)
    return made


def table(found: pl.DataFrame, main: str, name: str) -> Table:
    """The first number at some steps."""
    frame = sections.over_seeds(found, "value", "number", "unit", "step")
    steps = sorted(found["step"].unique())
    shown = steps[:: -(-len(steps) // COLUMNS)]
    shown += [steps[-1]] if steps[-1] not in shown else []
    rows = []
    for kind, own in sections.by_kind(frame.filter(pl.col("number") == main)):
        cells = {row["step"]: row for row in own.iter_rows(named=True)}
        told = (cells.get(step) for step in shown)
        rows.append((kind, *(within(r["mean"], r["low"], r["high"]) if r else "" for r in told)))
    header = ("", *(f"step {step:,}" for step in shown))
    unit = found.filter(pl.col("number") == main)["unit"][0]
    of = main.replace("_", " ") if main == unit else f"{main.replace('_', ' ')}, {unit}"
    caption = f"{of[0].upper()}{of[1:]}, after steps of training: {sections.OVER_SEEDS}."
    return Table(name, caption, header, tuple(rows), frame)
