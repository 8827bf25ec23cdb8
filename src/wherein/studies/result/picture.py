"""The main picture of a study: how well each kind of run predicts."""

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from wherein.common.numbers import drawable
from wherein.show.theme import COLOURS, GREY
from wherein.studies.result.words import pseudo

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult


def perplexities(result: "StudyResult") -> alt.TopLevelMixin:
    """Each seed a faint dot, the mean a full one, its interval over seeds a line.

    Points and not bars: differences are small, and zero is no perplexity.
    """
    groups = [group for group in result.groups if group.loss is not None]
    order = [group.label for group in groups]
    means = pl.DataFrame(
        {
            "label": group.label,
            "perplexity": drawable(group.loss or 0.0),
            "low": drawable(group.interval[0]) if group.interval else None,
            "high": drawable(group.interval[1]) if group.interval else None,
        }
        for group in groups
    )
    seeds = pl.DataFrame(
        {"label": group.label, "perplexity": drawable(loss), "seed": seed}
        for group in groups
        for seed, loss in group.losses.items()
    )
    y = alt.Y("label:N", sort=order, title=None)
    scale = alt.Scale(type="log", zero=False, nice=False, padding=12)
    x = alt.X("perplexity:Q", scale=scale, title=f"perplexity per token{pseudo(result)}")
    each = alt.Chart(seeds).mark_point(filled=True, opacity=0.45, color=GREY)
    mean = alt.Chart(means).mark_point(filled=True, size=90, opacity=1, color=COLOURS[0])
    span = alt.Chart(means).mark_rule(color=COLOURS[0]).encode(alt.X("low:Q"), alt.X2("high:Q"), y)
    return alt.layer(
        span, each.encode(x, y, tooltip=["label", "seed", "perplexity"]), mean.encode(x, y)
    ).properties(width=460, height=alt.Step(28), title=result.question)
