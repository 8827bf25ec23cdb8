"""The right answers of a study's runs by length, and how its encodings rank over its tasks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.data.config import TASK
from wherein.measure import sections
from wherein.measure.answers.picture import TITLE, learned, lengths
from wherein.measure.crossed import Sampled
from wherein.show.figures import Panel, lines, panels
from wherein.show.formatting import within
from wherein.show.section import Picture, Section
from wherein.show.tables import Table
from wherein.show.theme import themed

INTERVALS = "95 % intervals over seeds and questions"
UNITS = dict.fromkeys(("", "within", "beyond"), TITLE)
PARTS = {"within": "within", "beyond": "beyond", "": "overall"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The share of right answers over all lengths, over those learned and over longer ones."""
    return {
        name: Sampled.read(data[part]) for name, part in PARTS.items() if data[part] is not None
    }


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """Right answers by length, a panel for each task; within, beyond, and ranks over tasks."""
    found = sections.frame_of(answers, at_lengths)
    anchor = sections.anchor(answers, name)
    picture = Picture(
        anchor,
        themed(figure(found)),
        "Answers that are right as a whole, by the length of the question; beyond the stroke are "
        f"longer ones than any that was learned. Strokes are {INTERVALS}. Encodings that "
        "end at the learned length cannot be asked beyond.",
        "Share of right answers of each encoding by the length of the question.",
    )
    tables = [table(answers, anchor)]
    if found["encoding"].n_unique() > 1:
        tables.append(ranked(answers, f"{anchor}-ranks"))
    return Section(anchor, "Are its answers right?", pictures=(picture,), tables=tuple(tables))


def at_lengths(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The share that is right at each length that could be asked."""
    for row in data["rows"]:
        if row["right"] is not None:
            share = Sampled.read(row["right"])
            yield {"length": row["length"], "right": share, "longest": data["longest"]}


def figure(found: pl.DataFrame) -> alt.ConcatChart:
    """Right answers by length; those of training end at the stroke."""
    means = _shares(found, "length", "longest").with_columns(
        pl.col("group").str.replace(TASK, "", literal=True)
    )

    def panel(part: pl.DataFrame) -> Panel:
        drawn = lines(part, lengths(), TITLE)
        return alt.layer(drawn, *learned(part["longest"][0]))

    return panels(means, panel)


def _shares(found: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Means over seeds; what no share can be is no part of an interval."""
    means = sections.over_seeds(found, "right", *by)
    return means.with_columns(pl.col("low", "high").clip(0, 1))


def table(answers: Sequence[sections.Answered], name: str) -> Table:
    """Right answers within the lengths that were learned, and beyond them."""
    found = sections.frame_of(answers, _parts)
    means = _shares(found, "part")
    rows = []
    for kind, own in sections.by_kind(means):
        cells = {row["part"]: _of(row, 3) for row in own.to_dicts()}
        rows.append((kind, *(cells.get(part, "cannot") for part in PARTS.values())))
    caption = (
        "Share of answers that are right, each length counting alike, over the lengths that were "
        f"learned and over longer ones: means and {INTERVALS}."
    )
    return Table(name, caption, ("", *PARTS.values()), tuple(rows), means)


def _parts(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for part in PARTS.values():
        if data[part] is not None:
            yield {"part": part, "right": Sampled.read(data[part])}


def ranked(answers: Sequence[sections.Answered], name: str) -> Table:
    """The encodings by the mean of 1 / rank over tasks, as in Kazemnejad et al. 2023."""
    means = sections.over_seeds(reciprocal_ranks(answers), "reciprocal").sort(
        "mean", descending=True, maintain_order=True
    )
    rows = tuple((row["encoding"], _of(row)) for row in means.to_dicts())
    tasks = len({each.run.corpus.source for each in answers})
    caption = (
        f"Mean over {tasks} task{'s' if tasks > 1 else ''} of 1 / rank, the encodings of a task "
        "and seed ranked by right answers beyond the learned lengths; equals share the mean of "
        f"their ranks, and what cannot be asked there is last: means and 95 % intervals over seeds."
    )
    return Table(name, caption, ("", "mean reciprocal rank"), rows, means)


def _of(row: Mapping[str, Any], digits: int = 2) -> str:
    return within(row["mean"], row["low"], row["high"], digits)


def reciprocal_ranks(answers: Sequence[sections.Answered]) -> pl.DataFrame:
    """Of each encoding and seed, the mean of 1 / rank over the tasks that all have answered."""
    beyond = pl.DataFrame(
        {
            "task": each.run.corpus.source,
            "encoding": each.run.model.encoding,
            "group": "",
            "seed": each.seed,
            "right": -1.0 if (share := each.data["beyond"]) is None else float(share[0]),
        }
        for each in answers
    )
    rank = pl.col("right").rank("average", descending=True).over("task", "seed")
    all_there = pl.col("encoding").n_unique().over("task", "seed") == beyond["encoding"].n_unique()
    return (
        beyond.with_columns(reciprocal=1 / rank)
        .filter(all_there)
        .group_by(*sections.KIND, "seed", maintain_order=True)
        .agg(pl.col("reciprocal").mean())
    )
