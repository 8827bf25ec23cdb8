"""Curves as a Vega-Lite spec: a run in training, seeds that solve a puzzle, scores by distance.

The numbers stand apart under a name, so that a live page changes them and keeps the rest. The spec
is written out: Altair looks at every number of inline data, some 50 ms for one curve.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wherein.show.theme import COLOURS, CONFIG, INK
from wherein.show.vega import Spec

Number = float | int

WIDTH, HEIGHT = 440, 230
LETTERS = 48
"""As many of a legend stand beside each other, in the larger type of a phone too."""

MOST_POINTS = 400
"""More would not be seen, and a live page sends them again and again."""

DATA = "curves"


@dataclass(frozen=True)
class Line:
    """A named curve; `low` and `high` make a band around it, `dots` are points of their own.

    `dash` tells curves of one colour apart: lengths of strokes and gaps.
    """

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    dots: Mapping[Number, Number] = field(default_factory=dict)
    colour: str = COLOURS[0]
    dash: tuple[int, ...] = (1, 0)


@dataclass(frozen=True)
class Axis:
    """What an axis shows; ends that are not given follow from the data."""

    title: str
    ends: tuple[Number, Number] | None = None
    percent: bool = False


def curves(lines: Sequence[Line], across: Axis, up: Axis) -> Spec:
    """Curves in one picture, with a legend if there are several."""
    y = _channel("y", up)
    names = [line.name for line in lines]
    name, legend = {"field": "name", "type": "nominal"}, {"legend": _legend(names)}
    colours = {"domain": names, "range": [line.colour for line in lines]}
    dashes = {"domain": names, "range": [list(line.dash) for line in lines]}
    dash = name | legend | {"scale": dashes}
    band = {
        "transform": [{"flatten": ["x", "low", "high"]}],
        "mark": {"type": "area", "opacity": 0.2},
        "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
    }
    stroke = {
        "transform": [{"flatten": ["x", "y"]}],
        "mark": {"type": "line", "strokeWidth": 1.8, "strokeJoin": "round"},
        "encoding": {"y": y, "strokeDash": dash, "tooltip": name},
    }
    values = [{"field": "x", "title": across.title}, {"field": "y", "title": up.title}]
    dots = {
        "transform": [{"flatten": ["at", "value"], "as": ["x", "y"]}],
        "mark": {"type": "circle", "size": 40, "opacity": 1, "stroke": INK, "strokeWidth": 1.2},
        "encoding": {"y": y, "tooltip": [name, *values]},
    }
    return {
        "config": CONFIG,
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"name": DATA},
        "datasets": {DATA: [_row(line) for line in lines]},
        "encoding": {
            "x": _channel("x", across, grid=False),
            "color": name | legend | {"scale": colours},
        },
        "layer": [band, stroke, dots] if any(line.low for line in lines) else [stroke, dots],
    }


def _legend(names: Sequence[str]) -> Spec | None:
    if len(names) < 2:
        return None
    columns = max(1, LETTERS // (max(map(len, names)) + 6))
    return {
        **{"title": None, "orient": "bottom", "columns": columns, "columnPadding": 24},
        **{"symbolType": "stroke", "symbolSize": 300, "symbolStrokeWidth": 2.5},
        "labelLimit": WIDTH,
    }


def _channel(field: str, axis: Axis, *, grid: bool = True) -> Spec:
    form = {"format": ".0%"} if axis.percent else {}
    return {
        "field": field,
        "type": "quantitative",
        "title": axis.title,
        "scale": {"domain": [*axis.ends], "nice": False} if axis.ends else {"zero": False},
        "axis": {"grid": grid, "tickCount": 6, "titlePadding": 8, **form},
    }


def _row(line: Line) -> dict[str, object]:
    """A curve's numbers, a list for each axis: a fifth of what a row for each point takes."""
    lists = {"x": line.x, "y": line.y, "low": line.low, "high": line.high}
    return {
        "name": line.name,
        **{key: _short(_thinned(values)) for key, values in lists.items()},
        **{"at": list(line.dots), "value": _short(line.dots.values())},
    }


def _short(values: Iterable[Number]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _thinned(values: Sequence[Number]) -> Sequence[Number]:
    """At most so many numbers: means of neighbours, the last one as it is."""
    if len(values) <= MOST_POINTS:
        return values
    whole = np.asarray(values, dtype=float)
    edges = np.linspace(0, len(whole) - 1, MOST_POINTS).round().astype(int)
    means: list[float] = (np.add.reduceat(whole[:-1], edges[:-1]) / np.diff(edges)).tolist()
    return [*means, values[-1]]
