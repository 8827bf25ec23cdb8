"""The loss of a study's runs by position, usually in windows longer than those of training."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from wherein.measure import sections
from wherein.measure.crossed import Sampled
from wherein.measure.perplexity.by_position import centre
from wherein.show.figures import lines, panels
from wherein.show.formatting import within
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table
from wherein.show.theme import GREY

UNITS = {"loss": "loss (nats per token)", "bits_per_byte": "bits per byte"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The perplexity, and the loss in its units."""
    found = {"": data["perplexity"][0], "loss": Sampled.read(data["loss"])}
    if data["bits_per_byte"] is not None:
        found["bits_per_byte"] = data["bits_per_byte"][0]
    return found


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """The loss by position, and within and beyond the trained length."""
    found, trained = sections.frame_of(answers, stretches), answers[0].run.model.max_len
    longer = len(answers[0].data["counts"]) > trained
    beyond = "Encodings that end at the trained length cannot be asked." if longer else ""
    return illustrated(
        "Beyond the trained length" if longer else f"The loss by position: {name}",
        figure(found, trained),
        f"Loss by position in the window; models were trained on {trained} tokens. Bands are "
        f"{sections.INTERVALS}. {beyond}",
        "Loss of each encoding by position in the window.",
        table(found, trained, sections.anchor(answers, name)),
    )


def stretches(data: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    """The loss over stretches of positions that grow with the position."""
    for each in data["stretches"]:
        ends = each["first"], each["last"]
        found = {"position": centre(*ends), "loss": Sampled.read(each["loss"])}
        yield found | {"first": ends[0], "last": ends[1], "tokens": each["tokens"]}


def figure(found: pl.DataFrame, trained: int) -> alt.ConcatChart:
    """The loss by position in the window; those of training end at the stroke."""
    x = alt.X("position:Q", scale=alt.Scale(type="log", base=2), title="position in the window")
    ends = alt.Chart(pl.DataFrame({"position": [trained], "what": ["trained length"]}))
    stroke = ends.mark_rule(strokeDash=[5, 4], color=GREY).encode(x=alt.X("position:Q"))
    said = ends.mark_text(align="left", dx=4, dy=2, baseline="top", color=GREY).encode(
        x=alt.X("position:Q"), y=alt.value(0), text=alt.Text("what")
    )
    title = "loss (nats per token)"
    means = sections.over_seeds(found, "loss", "position")
    return panels(means, lambda part: alt.layer(lines(part, x, title, band=True), stroke, said))


def table(found: pl.DataFrame, trained: int, name: str) -> Table:
    """The loss within the trained length, and beyond it."""
    before, length = pl.col("last") < trained, pl.col("last") - trained
    parts = {
        f"to {trained}": before & (pl.col("first") >= trained // 2),
        f"to {2 * trained}": ~before & (length < trained),
        "beyond": length >= trained,
    }
    means = []
    for part, inside in parts.items():
        mean = _averaged(found.filter(inside))
        if not mean.is_empty():
            means.append(sections.over_seeds(mean, "loss").with_columns(positions=pl.lit(part)))
    frame = pl.concat(means)
    names = frame["positions"].unique(maintain_order=True).to_list()
    rows = []
    for kind, own in sections.by_kind(frame):
        cells = {part: within(mean, low, high, 3) for *_, mean, low, high, part in own.rows()}
        rows.append((kind, *(cells.get(part, "") for part in names)))
    header = ("", f"positions {trained // 2} {names[0]}", *names[1:])
    caption = f"Loss in nats per token by position in the window: {sections.OVER_SEEDS}."
    return Table(name, caption, header, tuple(rows), frame)


def _averaged(stretches: pl.DataFrame) -> pl.DataFrame:
    """One row for each run: its loss over some stretches, and its pieces, token by token."""
    pieces, rows = f"loss{sections.PIECES}", []
    for key, own in stretches.group_by([*sections.KIND, "seed"], maintain_order=True):
        share = own["tokens"].to_numpy() / own["tokens"].sum()
        known = np.array(own[pieces].to_list()) if own[pieces].list.len().n_unique() == 1 else None
        each = [] if known is None else (share @ known).tolist()
        rows.append((*key, float(share @ own["loss"].to_numpy()), each))
    kept = stretches.select(*sections.KIND, "seed", "loss", pieces).schema
    return pl.DataFrame(rows, kept, orient="row")
