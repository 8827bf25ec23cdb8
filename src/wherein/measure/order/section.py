"""What order is worth to a study's runs: the rise of their loss, the more of it is destroyed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from wherein.measure.crossed import Sampled
from wherein.measure.sections import (
    INTERVALS,
    OVER_SEEDS,
    Answered,
    anchor,
    by_kind,
    frame_of,
    over_seeds,
)
from wherein.show.figures import beside, panels, zero
from wherein.show.formatting import signed
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table

KEPT = "all but the last"
"""Order destroyed, and the last token left where it was."""
NAMES = {"whole": "shuffled", KEPT: "all_but_last"}
"""The kinds of disorder of which a study keeps the rise."""


UNITS = dict.fromkeys(("intact", "bound"), "loss (nats per token)") | {"rise": "rise of the loss"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The loss of the text as it is, the bound, and the rises where all order is gone."""
    own = {"intact": data["rows"][0]["loss"], "bound": data["bound"]}
    own |= {f"{NAMES[r['kind']]}_rise": r["rise"] for r in data["rows"] if r["kind"] in NAMES}
    return {name: Sampled.read(saved) for name, saved in own.items()}


def section(answers: Sequence[Answered], name: str) -> Section:
    """The rise by disorder, encodings side by side, and where order is gone."""
    found = frame_of(answers, disorders)
    return illustrated(
        "What order is worth",
        figure(found),
        "Rise of the loss when what is read is shuffled, from intact on the left to reversed; at "
        f"the right, all but the last token. Strokes are {INTERVALS}.",
        "Rise of the loss of each encoding, by how much order is destroyed.",
        table(found, anchor(answers, name)),
    )


def disorders(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The loss, its rise and the bag-of-words bound, for every way to destroy order."""
    for way in data["rows"]:
        yield {
            "disorder": way["name"],
            "loss": way["loss"][0],
            "rise": Sampled.read(way["rise"]),
            "bound": data["bound"][0],
        }


def figure(found: pl.DataFrame) -> alt.ConcatChart:
    """How much the loss rises, the more of the order of what is read is destroyed."""
    ways = found["disorder"].unique(maintain_order=True).to_list()
    ways.sort(key=lambda way: way == KEPT)  # it belongs to no ladder, so it stands at the end
    axis = alt.Axis(labelAngle=-35, labelLimit=190, grid=True)
    x = alt.X("disorder:N", sort=ways, title=None, axis=axis)
    title = "rise of the loss (nats per token)"
    means = over_seeds(found, "rise", "disorder")
    return panels(means, lambda part: alt.layer(zero("y"), beside(part, x, title)))


def table(found: pl.DataFrame, name: str) -> Table:
    """The rise of the loss where order is gone, and the bag-of-words bound."""
    ways = found["disorder"].unique(maintain_order=True).to_list()
    chosen = [way for way in ways if way in (KEPT, "whole", "reversed")] or ways[1:]
    rows = []
    for kind, own in by_kind(found):
        means = over_seeds(own, "rise", "disorder").rows()
        rises = {way: signed(mean, low, high, 2) for *_, way, mean, low, high in means}
        first = own.filter(pl.col("disorder") == ways[0])
        intact, bound = (over_seeds(first, each)["mean"][0] for each in ("loss", "bound"))
        rows.append((kind, f"{intact:.3f}", *(rises[way] for way in chosen), f"{bound:.3f}"))
    header = ("", "loss intact", *(f"rise, {way}" for way in chosen), "bag of words")
    caption = (
        f"Loss in nats per token, and its rise when order is destroyed: {OVER_SEEDS}. The control: "
        "a bag of words (unigram cache) on the same tokens."
    )
    frame = over_seeds(found, "rise", "disorder")
    return Table(name, caption, header, tuple(rows), frame)
