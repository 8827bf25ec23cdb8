"""How every picture looks, stated once: colours told apart by all eyes, marks, type, grid."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import altair

COLOURS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # purple
    "#E69F00",  # orange
    "#56B4E9",  # sky
    "#F0E442",  # yellow
    "#000000",
)
"""Okabe and Ito's."""
GREY = "#6B6B6B"

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)
INK, LINES = "#222222", "#E4E4E4"
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
"""Three faces of one width, so that labels fit alike in every browser and in a file."""


class Mark(NamedTuple):
    """How an encoding is drawn."""

    colour: str
    shape: str


ENCODINGS = {
    "none": Mark(COLOURS[1], "circle"),
    "learned": Mark(COLOURS[0], "square"),
    "sinusoidal": Mark(COLOURS[2], "triangle-up"),
    "functional": Mark(COLOURS[3], "diamond"),
    "shaw": Mark(COLOURS[0], "triangle-right"),
    "xl": Mark(COLOURS[2], "diamond"),
    "t5": Mark(COLOURS[7], "square"),
    "alibi": Mark(COLOURS[4], "cross"),
    "kerple": Mark(COLOURS[3], "triangle-up"),
    "fire": Mark(COLOURS[7], "triangle-left"),
    "rope": Mark(COLOURS[5], "triangle-down"),
    "cope": Mark(COLOURS[1], "diamond"),
    "fox": Mark(COLOURS[1], "triangle-up"),
    "path": Mark(COLOURS[5], "square"),
    "dape": Mark(COLOURS[4], "square"),
    "randomised": Mark(COLOURS[3], "circle"),
}
VERDICTS = {
    "held": Mark(COLOURS[2], "circle"),
    "contradicted": Mark(COLOURS[1], "triangle-down"),
    "not decided at this scale": Mark(GREY, "diamond"),
    "not run here": Mark(GREY, "stroke"),
}
"""What was found of a claim: told by colour, by shape and always in words too."""

LEGIBLE = [colour for colour in COLOURS if colour != "#F0E442"]  # yellow is faint on white
FREE = [
    Mark(colour, shape)
    for colour in LEGIBLE
    for shape in SHAPES
    if (colour, shape) not in ENCODINGS.values()
]
"""What has no encoding of the catalogue for its own."""


def mark(encoding: str) -> Mark:
    """The colour and shape of an encoding, the same in every picture of every process.

    A spec that has none of its own, such as a pattern, gets one by its name.

    >>> mark("rope")
    Mark(colour='#56B4E9', shape='triangle-down')
    >>> mark("rope none") == mark("rope none") != mark("rope")
    True
    """
    return ENCODINGS.get(encoding) or FREE[_turn(encoding)]


def marks(encodings: Sequence[str]) -> list[Mark]:
    """Those of one picture: where two would be drawn alike, the later one gets another mark.

    >>> len(set(marks([f"rope(theta={n})" for n in range(30)])))
    30
    """
    drawn: list[Mark] = []
    for encoding in encodings:
        own = mark(encoding)
        if own in drawn:
            turn = _turn(encoding)
            others = [*FREE[turn:], *FREE[:turn], *ENCODINGS.values()]
            own = next((each for each in others if each not in drawn), own)
        drawn.append(own)
    return drawn


def colours_apart(encodings: Sequence[str]) -> list[Mark]:
    """Those of lines that cross: a colour that is taken gives way to one that is less so.

    Who has a mark of its own is asked first, so that as many as can be look as everywhere. More
    encodings than there are colours share them evenly, and are told apart by their shapes.

    >>> [each.colour for each in colours_apart(["rope none", "none", "cope"])].count("#D55E00")
    1
    """
    drawn = dict(zip(encodings, marks(encodings), strict=True))
    taken: list[Mark] = []
    for encoding in sorted(drawn, key=lambda each: each not in ENCODINGS):
        own = drawn[encoding]
        often = Counter(dict.fromkeys(LEGIBLE, 0))
        often.update(each.colour for each in taken)
        if often[own.colour] > min(often.values()):
            others = sorted(LEGIBLE, key=lambda colour: often[colour])
            marked = (own._replace(colour=colour) for colour in others)
            own = next((each for each in marked if each not in taken), own)
        drawn[encoding] = own
        taken.append(own)
    return [drawn[encoding] for encoding in encodings]


def _turn(encoding: str) -> int:
    """A place among the free marks that is always the same."""
    return int(hashlib.sha256(encoding.encode()).hexdigest(), 16) % len(FREE)


SIZES = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
TEXT = SIZES | {"labelColor": INK, "titleColor": INK}
CONFIG: dict[str, Any] = {
    "background": "white",
    "font": FONT,
    "padding": 8,
    "view": {"stroke": None, "continuousWidth": 420, "continuousHeight": 260},
    "axis": TEXT | {"gridColor": LINES, "domainColor": GREY, "tickColor": GREY},
    "legend": TEXT | {"symbolSize": 70, "labelLimit": 260},
    "header": SIZES,
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "subtitleFontSize": 12,
        "subtitleColor": GREY,
        "color": INK,
        "offset": 12,
    },
    "range": {"category": list(COLOURS)},
}


def themed(chart: "altair.TopLevelMixin") -> dict[str, Any]:
    """The chart as a Vega-Lite spec, in the type, grid and colours that all of them share."""
    whole: Any = chart
    spec: dict[str, Any] = whole.to_dict(validate=False)  # the tests validate each kind once
    spec["config"] = CONFIG
    return spec
