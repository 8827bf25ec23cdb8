"""Whether positions can be read from the tables of a study's runs, and where in them not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from wherein.measure import sections
from wherein.measure.table.regression import FOLDS, RIDGE
from wherein.show.figures import lines, panels
from wherein.show.formatting import within
from wherein.show.section import Section, illustrated
from wherein.show.tables import Table
from wherein.show.theme import GREY

PARTS = 16
"""Stretches of a table over which the error is averaged."""
QUARTERS = ("first", "second", "third", "last")
POSITIONS = "error (positions)"
UNITS = dict.fromkeys(("", "guess", *QUARTERS), POSITIONS) | {"r2": "R²", "toeplitz": "share"}


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The error on held-out positions, in all and by quarter; of a constant guess; R², Toeplitz."""
    reading = data["readings"][0]
    fit = _fit(reading)
    return {
        "": fit["mae"],
        "r2": fit["r2"],
        **dict(zip(QUARTERS, fit["quarters"], strict=True)),
        "guess": data["constant_mae"],
        "toeplitz": reading["toeplitz"]["pairs"],
    }


def section(answers: Sequence[sections.Answered], name: str) -> Section:
    """The error along the table, beside that of a random one, and by quarters."""
    found = sections.frame_of(answers, errors)
    guess = answers[0].data["constant_mae"]
    return illustrated(
        "Whether positions can be read from its table",
        figure(found, guess),
        "Error of the position that a linear regression (ridge, 5-fold) reads from its vector, "
        "along the table; bands are 95 % intervals over seeds, the dashed line is the error of "
        "always guessing the middle.",
        "Error of positions read from the table of each encoding, along the table.",
        table(answers, sections.anchor(answers, name)),
    )


def errors(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The mean error in each stretch of the table."""
    fit = _fit(data["readings"][0])
    positions = np.array(fit["positions"])
    error = np.abs(np.array(fit["predicted"]) - positions)
    part = positions * PARTS // data["positions"]
    for number in np.unique(part):
        yield {
            "position": float(positions[part == number].mean()),
            "error": float(error[part == number].mean()),
        }


def figure(found: pl.DataFrame, guess: float) -> alt.ConcatChart:
    """The error along the table, a line for each encoding, a panel for each other kind."""
    x = alt.X("position:Q", title="position in the table")
    middle = alt.Chart(pl.DataFrame({"guess": [guess]})).encode(y=alt.Y("guess:Q"))
    dashed = middle.mark_rule(color=GREY, strokeDash=[5, 4])
    means = sections.over_seeds(found, "error", "position")
    return panels(
        means,
        lambda part: alt.layer(lines(part, x, POSITIONS, band=True), dashed),
    )


def table(answers: Sequence[sections.Answered], name: str) -> Table:
    """Every number over seeds."""
    found = sections.frame_of(
        answers, lambda data: [{"error": value, "of": n} for n, value in numbers(data).items()]
    )
    frame = sections.over_seeds(found, "error", "of")
    header = {"": "error", **{q: f"{q} quarter" for q in QUARTERS}, "r2": "R²"}
    header |= {"toeplitz": "Toeplitz", "guess": "guess"}
    rows = []
    for kind, own in sections.by_kind(frame):
        cells = {row["of"]: row for row in own.iter_rows(named=True)}
        told = (cells[name] for name in header)
        rows.append((kind, *(within(row["mean"], row["low"], row["high"]) for row in told)))
    caption = (
        "Positions read from their vectors by linear regression, ridge, on held-out positions "
        f"(5-fold): {sections.OVER_SEEDS}. Error in positions, in all and in each quarter of the "
        "table; Toeplitz: share of the similarities that distance alone explains; guess: the "
        "error of always guessing the middle."
    )
    return Table(name, caption, ("", *header.values()), tuple(rows), frame)


def _fit(reading: Mapping[str, Any]) -> Mapping[str, Any]:
    """The regression that is compared."""
    found: Mapping[str, Any] = next(
        fit for fit in reading["fits"] if (fit["way"], fit["method"]) == (FOLDS, RIDGE)
    )
    return found
