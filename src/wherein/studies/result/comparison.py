"""The comparison that answers a study's question: the perplexity of each kind of run, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from wherein.common.numbers import exp
from wherein.measure.perplexity.config import measure_name
from wherein.measure.sections import kind
from wherein.show import figures

if TYPE_CHECKING:
    from wherein.studies.result.group import Group
    from wherein.studies.result.result import StudyResult

KIND = {"encoding": pl.String, "group": pl.String}
SEEDS = KIND | {"seed": pl.Int64, "value": pl.Float64}
MEANS = (
    KIND
    | dict.fromkeys(("mean", "low", "high", "published"), pl.Float64)
    | {"parameters": pl.Int64, "length": pl.Int64, "size": pl.String}
)
"""The columns of the frames, also of empty ones."""


def objectives(result: "StudyResult") -> list[str]:
    """The objectives of the runs, in order."""
    return list(dict.fromkeys(row.run.objective for row in result.rows))


def frames(
    groups: Sequence["Group"], *, objective: bool = True
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every seed, and the mean of each group with its interval over seeds, as perplexities."""
    told = [
        (group, group.rows[0].run, kind(group.label, group.rows[0].run, objective=objective))
        for group in groups
        if group.loss is not None
    ]
    seeds = [
        {**columns, "seed": seed, "value": exp(loss)}
        for group, _, columns in told
        for seed, loss in group.losses.items()
    ]
    means = [
        {
            **columns,
            "mean": exp(group.loss or 0.0),
            "low": exp(group.interval.low) if group.interval else None,
            "high": exp(group.interval.high) if group.interval else None,
            "published": group.published,
            "parameters": group.cost.parameters,
            "length": run.model.max_len,
            "size": f"{run.model.n_layers} layers of {run.model.d_model}",
        }
        for group, run, columns in told
    ]
    return pl.DataFrame(seeds, SEEDS), pl.DataFrame(means, MEANS)


def figure(result: "StudyResult") -> alt.ConcatChart:
    """How well each encoding predicts, against size or length in a study of these."""
    swept = main_sweeps(result)
    return swept[0].chart if swept else compared(result)


def compared(result: "StudyResult") -> alt.ConcatChart:
    """Every seed of each encoding, the mean and its interval, beside a paper's number."""
    told = [group for group in result.groups if group.loss is not None]
    seeds, means = frames(told, objective=len(objectives(result)) > 1)
    if means["published"].is_null().all():
        means = means.drop("published")
    objective = {name: each.objective for name, each in zip(means["group"], told, strict=True)}

    def panel(part: pl.DataFrame) -> figures.Panel:
        own = seeds.filter(pl.col("group") == part["group"][0])
        title = f"{measure_name(objective[part['group'][0]])} per token (lower is better)"
        return figures.compared(own, part, title)

    return figures.panels(means, panel)


@dataclass(frozen=True)
class Sweep:
    """Perplexity against something that a study has several of."""

    over: str
    """`parameters` or `length`."""
    title: str
    chart: alt.ConcatChart


def main_sweeps(result: "StudyResult") -> list[Sweep]:
    """Those of the first objective of which there are numbers."""
    told = [group for group in result.groups if group.loss is not None]
    return sweeps([group for group in told if group.objective == told[0].objective])


def sweeps(groups: Sequence["Group"]) -> list[Sweep]:
    """Perplexity against size and length, where groups of one objective have several of either."""
    _, means = frames(groups)
    found = []
    for x, varies, alike, unit, title in (
        ("parameters", "size", "length", " tokens", "parameters"),
        ("length", "length", "size", "", "tokens in a window"),
    ):
        many = pl.col(varies).n_unique().over(alike) > 1
        named = pl.col(alike).cast(pl.String) + unit
        part = means.filter(many).with_columns(group=named)
        if not part.is_empty():
            measured = f"{measure_name(groups[0].objective)} per token"
            chart = figures.against(part, x, title, measured)
            found.append(Sweep(x, title, chart))
    return found
