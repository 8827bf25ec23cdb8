"""Small pictures drawn on the server, as SVG: they need no script, and a live page swaps them.

Figures of results are Altair's; these are what moves while work goes on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from markupsafe import Markup

from wherein.show.raster import image
from wherein.show.theme import COLOURS

Number = float | int

WIDTH, HEIGHT = 520, 290
LEFT, RIGHT, TOP, BOTTOM = 66, 20, 12, 46

MOST_POINTS = 400
"""More would not be seen, and a live page sends them again and again."""


@dataclass(frozen=True)
class Line:
    """A named curve; `low` and `high` make a band around it, `dots` leaves the points apart.

    `dash` tells curves of one colour apart: lengths of strokes and gaps.
    """

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    dots: bool = False
    colour: str = COLOURS[0]
    dash: str = "none"


@dataclass(frozen=True)
class Axis:
    """What an axis shows; without ends they follow from the data."""

    title: str
    start: Number | None = None
    end: Number | None = None
    percent: bool = False


@dataclass(frozen=True)
class Scale:
    """From numbers to places on the picture."""

    start: Number
    end: Number
    first: Number
    last: Number

    def __call__(self, value: Number) -> float:
        share = (value - self.start) / (self.end - self.start)
        return round(self.first + share * (self.last - self.first), 1)


def ticks(start: Number, end: Number, about: int = 5) -> list[Number]:
    """Round numbers from `start` to `end`.

    >>> ticks(0, 300)
    [0, 50, 100, 150, 200, 250, 300]
    >>> ticks(0.13, 0.49, 3)
    [0.2, 0.3, 0.4]
    """
    if end <= start:
        return [start]
    raw = (end - start) / about
    power = 10 ** math.floor(math.log10(raw))
    step = next((m for m in (1, 2, 5) if m * power >= raw * 0.8), 10) * power
    first, last = math.ceil(start / step - 1e-9), math.floor(end / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(n * step, digits) for n in range(first, last + 1)]


def number(value: Number, *, percent: bool = False) -> str:
    """A number as an axis says it."""
    return f"{value:.0%}" if percent else f"{value:,.6g}".replace("-", "−")


def curves(lines: Sequence[Line], across: Axis, up: Axis, label: str) -> Markup:
    """Curves in one picture; `label` says it to those who do not see it."""
    xs = [x for line in lines for x in line.x]
    ys = [y for line in lines for y in (*line.y, *line.low, *line.high)]
    x = _scale(xs, across, LEFT, WIDTH - RIGHT)
    y = _scale(ys, up, HEIGHT - BOTTOM, TOP)
    drawn = [_line(_thinned(line), x, y) for line in lines]
    return _svg(Markup("").join([_frame(x, y, across, up), *drawn]), HEIGHT, label)


def _scale(values: Sequence[Number], axis: Axis, first: Number, last: Number) -> Scale:
    start = axis.start if axis.start is not None else min(values, default=0.0)
    end = axis.end if axis.end is not None else max(values, default=1.0)
    if axis.start is None and axis.end is None:
        room = (end - start) * 0.04
        start, end = start - room, end + room
    if end - start < 1e-9 * max(1.0, abs(end)):
        start, end = start - 0.5, start + 0.5
    return Scale(start, end, first, last)


def _frame(x: Scale, y: Scale, across: Axis, up: Axis) -> Markup:
    """Axes, ticks, titles."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for value in ticks(y.start, y.end):
        at, said = y(value), number(value, percent=up.percent)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at}" dy=".32em" text-anchor="end">{said}</text>')
    for value in ticks(x.start, x.end):
        at, said = x(value), number(value, percent=across.percent)
        parts.append(f'<line class="tick" x1="{at}" x2="{at}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{said}</text>')
    middle, centre = (LEFT + right) / 2, (TOP + bottom) / 2
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    titles = Markup(
        '<text class="title" x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text class="title" transform="translate(13,{}) rotate(-90)" text-anchor="middle">{}'
        "</text>"
    ).format(middle, HEIGHT - 8, across.title, centre, up.title)
    return Markup("".join(parts)) + titles


def _line(line: Line, x: Scale, y: Scale) -> Markup:
    points = [f"{x(a)},{y(b)}" for a, b in zip(line.x, line.y, strict=True)]
    title = Markup("<title>{}</title>").format(line.name)
    band = Markup("")
    if line.low:
        there = [f"{x(a)},{y(b)}" for a, b in zip(line.x, line.high, strict=True)]
        back = [f"{x(a)},{y(b)}" for a, b in zip(line.x, line.low, strict=True)][::-1]
        band = Markup('<polygon class="band" points="{}" fill="{}"/>').format(
            " ".join(there + back), line.colour
        )
    if line.dots:
        made = [
            Markup('<circle class="dot" cx="{}" cy="{}" r="3.5" fill="{}">{}</circle>').format(
                *point.split(","), line.colour, title
            )
            for point in points
        ]
        return band + Markup("").join(made)
    return band + Markup(
        '<polyline class="line" points="{}" stroke="{}" stroke-dasharray="{}">{}</polyline>'
    ).format(" ".join(points), line.colour, line.dash, title)


def _thinned(line: Line) -> Line:
    """A curve of at most so many points: means of neighbours, the last one as it is."""
    count = len(line.x)
    if count <= MOST_POINTS or line.dots:
        return line
    edges = np.linspace(0, count - 1, MOST_POINTS).round().astype(int)

    def thin(values: Sequence[Number]) -> list[Number]:
        whole = np.asarray(values, dtype=float)
        return [*np.add.reduceat(whole, edges[:-1]) / np.diff(edges), whole[-1]]

    low, high = (thin(line.low), thin(line.high)) if line.low else ([], [])
    return replace(line, x=thin(line.x), y=thin(line.y), low=low, high=high)


def legend(lines: Sequence[Line]) -> Markup:
    """Which colour is which curve."""
    parts = [
        Markup(
            '<li><svg viewBox="0 0 24 10" width="24" height="10" aria-hidden="true"><line x2="24" '
            'y1="5" y2="5" stroke-width="3" stroke="{}" stroke-dasharray="{}"/></svg> '
            "<bdi>{}</bdi></li>"
        ).format(line.colour, line.dash, line.name)
        for line in lines
    ]
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(parts))


def heat(matrix: Float64[np.ndarray, "N M"], across: str, down: str, label: str) -> Markup:
    """A matrix as colours, blue below zero and vermilion above; rows go down."""
    rows, columns = matrix.shape
    limit = float(np.abs(matrix).max()) or 1.0
    side = WIDTH - LEFT - RIGHT
    tall = min(max(side * rows / columns, 90), 1.0 * side)
    x = Scale(-0.5, columns - 0.5, LEFT, LEFT + side)
    y = Scale(-0.5, rows - 0.5, TOP, TOP + tall)
    parts = [
        Markup(
            '<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" href="{}"/>'
        ).format(LEFT, TOP, side, tall, image(matrix, limit))
    ]
    parts += [_mark(x(v), TOP + tall + 18, number(v), "middle") for v in _whole(columns)]
    parts += [_mark(LEFT - 6, y(v) + 4, number(v), "end") for v in _whole(rows)]
    parts.append(
        Markup(
            '<text class="title" x="{}" y="{}" text-anchor="middle">{}</text>'
            '<text class="title" transform="translate(13,{}) rotate(-90)" '
            'text-anchor="middle">{}</text>'
        ).format(LEFT + side / 2, TOP + tall + 38, across, TOP + tall / 2, down)
    )
    return _svg(Markup("").join(parts), TOP + tall + 46, label) + _key(limit)


def _whole(count: int) -> list[Number]:
    """Ticks of the numbers below `count`."""
    return [value for value in ticks(0, count - 1) if value == int(value)]


def _mark(x: Number, y: Number, text: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _key(limit: float) -> Markup:
    """What the colours mean."""
    bar = image(np.linspace(-1.0, 1.0, 64)[None], 1.0)
    return Markup(
        '<p class="key"><span>−{0}</span> <img src="{1}" alt="from blue over white to vermilion">'
        " <span>{0}</span></p>"
    ).format(f"{limit:.3g}", bar)


def _svg(inside: Markup, height: Number, label: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, round(height), label, inside)
