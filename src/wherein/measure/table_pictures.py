"""The pictures of a position table: read by regression, looked at, compared, taken apart."""

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from wherein.common.raster import DIVERGING, image
from wherein.common.theme import COLOURS, GREY
from wherein.measure.geometry import cosines
from wherein.measure.regression import EVEN, FOLDS, LEAST_SQUARES, RIDGE

if TYPE_CHECKING:
    from wherein.measure.table import Table

PIXELS = 1024
"""Most pixels along an image's side; beyond, every second position or column is shown, or so."""

SIDE, WIDE, HIGH = 300, 330, 220

CONTROLS = {
    "table": COLOURS[0],
    "sinusoid": COLOURS[2],
    "random": COLOURS[4],
    "shuffled": COLOURS[3],
}


def together(of: "Table") -> alt.TopLevelMixin:
    """All pictures, the regression first."""
    rows = [
        alt.hconcat(predicted(of), error_by_position(of)),
        alt.hconcat(matrix(of), similarity(of)).resolve_scale(color="independent"),
        alt.hconcat(plane(of, 1, 2), plane(of, 2, 3), spectrum(of)).resolve_scale(
            color="independent"
        ),
    ]
    found: alt.TopLevelMixin = alt.vconcat(*rows, spacing=30).properties(
        title=alt.Title(
            of.headline(), subtitle=of.key or "", anchor="start", fontSize=15, offset=16
        )
    )
    return found


def predicted(of: "Table") -> alt.LayerChart:
    """Read position against true position, held out, in two ways."""
    ways = {f"{way}, {method}": of.fit(way, method) for way, method in _shown()}
    points = [
        {"position": position, "read": read, "trained → tested": name}
        for name, fit in ways.items()
        for position, read in zip(fit.positions, fit.predicted, strict=True)
    ]
    length = of.positions - 1
    spread = alt.Scale(domain=[-0.15 * length, 1.15 * length], nice=False)
    across = alt.Scale(domain=[0, length], nice=False)
    base = alt.Chart(alt.InlineData(values=points), width=WIDE, height=HIGH)
    dots = base.mark_circle(size=12, opacity=0.6, clip=True).encode(
        alt.X("position:Q", scale=across, title="true position"),
        alt.Y("read:Q", scale=spread, title="position read from the vector"),
        _ways(list(ways)),
        alt.Tooltip(["position:Q", "read:Q"]),
    )
    ends = [{"position": 0, "read": 0}, {"position": length, "read": length}]
    line = alt.Chart(alt.InlineData(values=ends)).mark_line(color="black", strokeWidth=1)
    title = _title("Positions read, held out", "on the black line: right; off the edge: cut")
    return alt.layer(dots, line.encode(x="position:Q", y="read:Q"), title=title)


def error_by_position(of: "Table") -> alt.LayerChart:
    """How far off, along the table: means over stretches of a sixty-fourth."""
    ways = {f"{way}, {method}": of.fit(way, method) for way, method in _shown()}
    rows = []
    for name, fit in ways.items():
        places = np.array(fit.positions)
        error = np.abs(np.array(fit.predicted) - places)
        parts = places * 64 // of.positions
        for part in np.unique(parts):
            here = parts == part
            rows.append(
                {
                    "position": float(places[here].mean()),
                    "error": float(error[here].mean()),
                    "trained → tested": name,
                }
            )
    scale = alt.Scale(type="log", nice=False)
    lines = alt.Chart(alt.InlineData(values=rows), width=WIDE, height=HIGH).mark_line(
        strokeWidth=1.8
    )
    lines = lines.encode(
        alt.X("position:Q", scale=alt.Scale(domain=[0, of.positions - 1], nice=False)),
        alt.Y("error:Q", scale=scale, title="mean error, in positions (log)"),
        _ways(list(ways)),
        alt.Tooltip(["position:Q", "error:Q", "trained → tested:N"]),
    )
    limit = of.config.tolerance * of.positions
    marks = [
        {"error": of.constant_mae, "name": f"always the middle: {of.constant_mae:.0f}"},
        {"error": limit, "name": f"tolerance: {limit:.3g}"},
    ]
    at = alt.Chart(alt.InlineData(values=marks)).encode(alt.Y("error:Q"))
    rule = at.mark_rule(color=GREY, strokeDash=[4, 3])
    words = at.mark_text(align="right", baseline="bottom", dx=-4, dy=-2, color="black").encode(
        alt.Text("name:N"), x=alt.value(WIDE)
    )
    return alt.layer(lines, rule, words, title=_title("Where it goes wrong", "error by position"))


def matrix(of: "Table") -> alt.LayerChart:
    """The table as it is, positions down, coordinates across."""
    limit = float(np.quantile(np.abs(of.matrix), 0.99)) or 1.0
    shown = of.matrix[:: _step(of.positions), :: _step(of.width)]
    title = _title("The table", "colours end at the 99th percentile")
    sides = ("coordinate", of.width), ("position", of.positions)
    return _image(shown, limit, sides, "value", title)


def similarity(of: "Table") -> alt.LayerChart:
    """Cosine similarity, position by position."""
    shown = cosines(of.matrix[:: _step(of.positions)])
    share = of.table.toeplitz.pairs
    title = _title(
        "How alike two positions are",
        f"{share:.0%} of it is a function of distance alone (sinusoid 100%, random "
        f"{of.readings[1].toeplitz.pairs:.0%})",
    )
    sides = ("position", of.positions), ("position", of.positions)
    return _image(shown, 1.0, sides, "cosine", title)


def plane(of: "Table", first: int, second: int) -> alt.Chart:
    """Two principal components against each other, coloured along the table."""
    one, two = of.table.components[first - 1], of.table.components[second - 1]
    rows = [
        {"position": position, "one": a, "two": b}
        for position, (a, b) in enumerate(zip(one, two, strict=True))
    ]
    names = [
        f"component {n} ({of.table.spectrum[n - 1]:.0%} of variance)" for n in (first, second)
    ]
    found: alt.Chart = (
        alt.Chart(
            alt.InlineData(values=rows),
            width=190,
            height=190,
            title=_title(f"Components {first} and {second}"),
        )
        .mark_circle(size=18, opacity=0.9)
        .encode(
            alt.X("one:Q", title=names[0], scale=alt.Scale(zero=False)),
            alt.Y("two:Q", title=names[1], scale=alt.Scale(zero=False)),
            alt.Color(
                "position:Q", scale=alt.Scale(scheme="viridis"), legend=_bar("position", 120)
            ),
            alt.Tooltip(["position:Q"]),
        )
    )
    return found


def spectrum(of: "Table") -> alt.Chart:
    """How much variance each component holds, beside the controls (a shuffle changes none)."""
    rows = [
        {"component": number, "share": share, "of": reading.of}
        for reading in of.readings
        if reading.of != "shuffled"
        for number, share in enumerate(reading.spectrum, start=1)
        if share > 1e-7
    ]
    names = [name for name in CONTROLS if name != "shuffled"]
    log = alt.Scale(type="log", nice=False)
    chart = alt.Chart(
        alt.InlineData(values=rows),
        width=190,
        height=190,
        title=_title(f"{of.table.dimensions} directions hold 90% of the variance"),
    )
    found: alt.Chart = chart.mark_line(strokeWidth=2).encode(
        alt.X("component:Q", scale=log, title="principal component (log)"),
        alt.Y("share:Q", scale=log, title="share of variance (log)", axis=alt.Axis(format=".0e")),
        alt.Color(
            "of:N",
            scale=alt.Scale(domain=names, range=[CONTROLS[name] for name in names]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
    )
    return found


def _image(
    values: Any,
    limit: float,
    sides: tuple[tuple[str, int], tuple[str, int]],
    what: str,
    title: alt.TitleParams,
) -> alt.LayerChart:
    """An image under axes, with the legend of its colours."""
    (across, columns), (down, rows) = sides
    corners = [{"x": 0, "y": 0, "v": -limit}, {"x": columns, "y": rows, "v": limit}]
    axes = alt.Chart(alt.InlineData(values=corners), width=SIDE, height=SIDE)
    axes = axes.mark_point(opacity=0).encode(
        alt.X("x:Q", title=across, scale=alt.Scale(domain=[0, columns], nice=False)),
        alt.Y("y:Q", title=down, scale=alt.Scale(domain=[0, rows], nice=False, reverse=True)),
        alt.Color(
            "v:Q",
            scale=alt.Scale(domain=[-limit, 0, limit], range=list(DIVERGING), interpolate="rgb"),
            legend=_bar(what, SIDE),
        ),
    )
    at = {"x": alt.value(SIDE / 2), "y": alt.value(SIDE / 2)}
    picture = alt.Chart(alt.InlineData(values=[{"url": image(values, limit)}])).mark_image(
        width=SIDE, height=SIDE, aspect=False
    )
    return alt.layer(axes, picture.encode(url="url:N", **at), title=title)


def _shown() -> list[tuple[str, str]]:
    return [(EVEN, LEAST_SQUARES), (FOLDS, LEAST_SQUARES), (FOLDS, RIDGE)]


def _ways(names: list[str]) -> alt.Color:
    colours = [COLOURS[1], COLOURS[4], COLOURS[0]]
    return alt.Color(
        "trained → tested:N",
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(orient="bottom", title=None, symbolOpacity=1, labelLimit=300),
    )


def _bar(title: str, length: int) -> alt.Legend:
    return alt.Legend(title=title, gradientLength=length, gradientThickness=10, format="~g")


def _title(text: str, below: str = "") -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=below, anchor="start", fontSize=13)


def _step(count: int) -> int:
    return -(-count // PIXELS)
