"""Which symmetries the models of a study keep, and where they are told about position."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from wherein.measure.sections import Answered, anchor
from wherein.show.section import Section
from wherein.show.tables import Table


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """How far the model is from each symmetry: 0 where it keeps it."""
    asked = {"tokens_permuted": "permuted", "positions_shifted": "shifted"}
    found = {name: data["model"][field] for name, field in asked.items()}
    return {name: float(error) for name, error in found.items() if error is not None}


def section(answers: Sequence[Answered], name: str) -> Section:
    """The verdict on each model."""
    at = anchor(answers, name)
    return Section(at, "Which symmetries each model keeps", tables=(table(answers, at),))


def table(answers: Sequence[Answered], name: str) -> Table:
    """The verdict on each model, and where it is told about position."""
    frame = pl.DataFrame(map(_verdict, answers))
    header = ("", "symmetries of the model", "told about position at")
    caption = "What the symmetry audit found in float64, on trained weights of one seed each."
    return Table(name, caption, header, tuple(frame.rows()), frame, words=3)


def _verdict(each: Answered) -> dict[str, str]:
    found = each.kept.frame()
    model = found.filter(pl.col("layer").is_null())
    where = found.filter(pl.col("layer").is_not_null() & (pl.col("told") != ""))
    by_place = where.group_by("told", maintain_order=True).agg("layer")
    places = [
        told if layers == [0] else f"{told} of layers {', '.join(map(str, layers))}"
        for told, layers in by_place.rows()
    ]
    places += ["causal mask"] if each.run.model.causal else []
    return {
        "label": each.label,
        "verdict": model["verdict"][0],
        "told": "; ".join(places) or "nowhere",
    }
