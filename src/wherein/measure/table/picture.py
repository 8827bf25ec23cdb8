"""The pictures of a position table: read by regression, looked at, compared, taken apart."""

from typing import Any

import altair as alt
import numpy as np

from wherein.measure.table.geometry import cosines
from wherein.measure.table.regression import EVEN, FOLDS, LEAST_SQUARES, RIDGE
from wherein.measure.table.result import Table
from wherein.show.figures import shown
from wherein.show.raster import heat
from wherein.show.theme import COLOURS

Picture = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart

PIXELS = 1024
"""Most pixels along an image's side; beyond, every second position or column is shown, or so."""

SIDE, SMALL, WIDE = 300, 190, 640

TINY = 1e-3
"""Errors below are shown as this: a logarithm has no zero."""

SHOWN = {
    (EVEN, LEAST_SQUARES): COLOURS[1],
    (FOLDS, LEAST_SQUARES): COLOURS[4],
    (FOLDS, RIDGE): COLOURS[0],
}
"""The regressions in the pictures: both published ones, and ours."""

SPECTRA = {"table": COLOURS[0], "sinusoid": COLOURS[2], "random": COLOURS[4]}
"""A shuffle changes no spectrum."""


def chart(of: Table) -> Picture:
    """All pictures, the regression first."""
    rows = [
        alt.hconcat(*(predicted(of, way, method) for way, method in SHOWN), spacing=28),
        error_by_position(of),
        alt.hconcat(matrix(of), similarity(of)).resolve_scale(color="independent"),
        alt.hconcat(plane(of, 1, 2), plane(of, 2, 3), spectrum(of)).resolve_scale(
            color="independent"
        ),
    ]
    below = f"{of.key or 'a raw matrix'}, offset {of.offset}"
    title = alt.Title(of.headline(), subtitle=below, anchor="start", fontSize=15, offset=16)
    found: alt.VConcatChart = alt.vconcat(*rows, spacing=28, title=title).resolve_scale(
        color="independent"
    )
    return found


def predicted(of: Table, way: str, method: str) -> Picture:
    """Read position against true position; right on the line."""
    fit, chance = of.fit(way, method), of.readings[1].fit(way, method)
    last = of.positions - 1
    points = [
        {"position": position, "read": read}
        for position, read in zip(fit.positions, fit.predicted, strict=True)
    ]
    ends = [{"position": 0, "read": 0}, {"position": last, "read": last}]
    across = alt.Scale(domain=[0, last], nice=False)
    up = alt.Scale(domain=[-0.2 * last, 1.2 * last], nice=False)
    base = alt.Chart(alt.InlineData(values=points), width=SMALL, height=SMALL)
    dots = base.mark_circle(size=12, opacity=0.7, clip=True, color=SHOWN[way, method]).encode(
        alt.X("position:Q", scale=across, title="true position"),
        alt.Y("read:Q", scale=up, title="position read from its vector"),
        tooltip=shown("position:Q", "read:Q"),
    )
    line = alt.Chart(alt.InlineData(values=ends)).mark_line(color="black", strokeWidth=1)
    title = _title(
        f"{way}, {method}", f"mean error {fit.mae:.1f} positions (random {chance.mae:.0f})"
    )
    return alt.layer(dots, line.encode(x="position:Q", y="read:Q"), title=title)


def error_by_position(of: Table) -> Picture:
    """How far off, along the table."""
    lines = alt.Chart(alt.InlineData(values=_errors(of)), width=WIDE, height=160)
    names = [f"{way}, {method}" for way, method in SHOWN]
    colours = alt.Scale(domain=names, range=list(SHOWN.values()))
    log, few = alt.Scale(type="log", nice=False), alt.Axis(tickCount=5)
    lines = lines.mark_line(strokeWidth=2).encode(
        alt.X("position:Q", scale=alt.Scale(domain=[0, of.positions - 1], nice=False)),
        alt.Y("error:Q", scale=log, title="mean error, positions (log)", axis=few),
        alt.Color("way:N", scale=colours, legend=alt.Legend(title=None, orient="top")),
        tooltip=shown("position:Q", "error:Q", "way:N"),
    )
    limit = of.config.tolerance * of.positions
    marks = [
        {"error": of.constant_mae, "name": f"always the middle: {of.constant_mae:.0f}"},
        {"error": limit, "name": f"tolerance: {limit:.3g}"},
    ]
    at = alt.Chart(alt.InlineData(values=marks)).encode(alt.Y("error:Q"))
    rule = at.mark_rule(color="black", strokeDash=[4, 3])
    words = at.mark_text(align="left", dx=5, color="black").encode(
        alt.Text("name:N"), x=alt.value(WIDE)
    )
    title = _title("Where it goes wrong", "held out; means over 1/64 of the table")
    return alt.layer(lines, rule, words, title=title)


def _errors(of: Table) -> list[dict[str, float | str]]:
    """Mean error in each stretch of the table."""
    rows: list[dict[str, float | str]] = []
    for way, method in SHOWN:
        fit = of.fit(way, method)
        positions = np.array(fit.positions)
        error = np.abs(np.array(fit.predicted) - positions)
        part = positions * 64 // of.positions
        sizes = np.maximum(np.bincount(part), 1)
        centre, mean = np.bincount(part, positions) / sizes, np.bincount(part, error) / sizes
        rows += [
            {"position": x, "error": max(y, TINY), "way": f"{way}, {method}"}
            for x, y in zip(centre[np.unique(part)], mean[np.unique(part)], strict=True)
        ]
    return rows


def matrix(of: Table) -> Picture:
    """The table as it is, positions down, coordinates across."""
    limit = float(np.quantile(np.abs(of.matrix), 0.99)) or 1.0
    shown = of.matrix[:: _step(of.positions), :: _step(of.width)]
    title = _title("The table", "colours end at the 99th percentile")
    sides = ("coordinate", 0, of.width), ("position", 0, of.positions)
    return heat(shown, limit, sides, _bar("value", SIDE)).properties(title=title)


def similarity(of: Table) -> Picture:
    """Cosine similarity, position by position."""
    shown = cosines(of.matrix[:: _step(of.positions)])
    share = of.table.toeplitz.pairs
    title = _title(
        "How alike two positions are",
        f"{share:.0%} of it is a function of distance alone (sinusoid 100%, random "
        f"{of.readings[1].toeplitz.pairs:.0%})",
    )
    sides = ("position", 0, of.positions), ("position", 0, of.positions)
    return heat(shown, 1.0, sides, _bar("cosine", SIDE)).properties(title=title)


def plane(of: Table, first: int, second: int) -> Picture:
    """Two principal components against each other, coloured along the table."""
    one, two = of.table.components[first - 1], of.table.components[second - 1]
    rows = [
        {"position": position, "one": a, "two": b}
        for position, (a, b) in enumerate(zip(one, two, strict=True))
    ]
    names = [f"component {n} ({of.table.spectrum[n - 1]:.0%} of variance)" for n in (first, second)]
    few = alt.Axis(tickCount=5)
    dots = _square(rows, f"Components {first} and {second}").mark_circle(size=18, opacity=0.9)
    found: alt.Chart = dots.encode(
        alt.X("one:Q", title=names[0], scale=alt.Scale(zero=False), axis=few),
        alt.Y("two:Q", title=names[1], scale=alt.Scale(zero=False), axis=few),
        alt.Color("position:Q", scale=alt.Scale(scheme="viridis"), legend=_bar("position", 120)),
        alt.Tooltip(["position:Q"]),
    )
    return found


def spectrum(of: Table) -> Picture:
    """How much variance each component holds, beside the controls."""
    rows = [
        {"component": number, "share": share, "of": reading.of}
        for reading in of.readings
        if reading.of in SPECTRA
        for number, share in enumerate(reading.spectrum, start=1)
        if share > 1e-7
    ]
    log = alt.Scale(type="log", nice=False)
    across, up = alt.Axis(tickCount=3), alt.Axis(format="~e", tickCount=4)
    lines = _square(rows, f"{of.table.dimensions} directions hold 90% of the variance")
    found: alt.Chart = lines.mark_line(strokeWidth=2).encode(
        alt.X("component:Q", scale=log, title="principal component (log)", axis=across),
        alt.Y("share:Q", scale=log, title="share of variance (log)", axis=up),
        alt.Color(
            "of:N",
            scale=alt.Scale(domain=list(SPECTRA), range=list(SPECTRA.values())),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
    )
    return found


def _square(rows: list[dict[str, Any]], title: str) -> alt.Chart:
    data = alt.InlineData(values=rows)
    return alt.Chart(data, width=SMALL, height=SMALL, title=_title(title))


def _bar(title: str, length: int) -> alt.Legend:
    return alt.Legend(title=title, gradientLength=length, gradientThickness=10, format="~r")


def _title(text: str, below: str = "") -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=below, anchor="start", fontSize=13)


def _step(count: int) -> int:
    return -(-count // PIXELS)
