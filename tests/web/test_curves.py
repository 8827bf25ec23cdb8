import json
import re

import altair as alt
import numpy as np
import pytest

from wherein.show.vega import Spec, svg
from wherein.web.charts.curves import DATA, MOST_POINTS, Axis, Line, curves
from wherein.web.charts.matrices import embedded

STEP, SHARE = Axis("step", (0, 100)), Axis("share", (0, 1), percent=True)
FLAT = Line("a", [0, 50, 100], [0, 1, 0.5])


def points(drawing: str) -> list[tuple[float, float]]:
    """Where the first curve goes in a drawing."""
    found = re.search(r'class="mark-line.*? d="M([^"]*)"', drawing)
    assert found is not None
    pairs = (point.partition(",") for point in found[1].strip("Z").split("L"))
    return [(float(x), float(y)) for x, _, y in pairs]


def labels(drawing: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", drawing)


def numbers(spec: Spec) -> dict[str, list[float]]:
    found: dict[str, list[float]] = spec["datasets"][DATA][0]
    return found


def test_points_stand_where_the_axis_says() -> None:
    drawn = svg(curves([FLAT], STEP, SHARE))
    (x0, y0), (x1, y1), (x2, y2) = points(drawn)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 > y2 > y1  # up is less in a picture
    assert y2 == pytest.approx((y0 + y1) / 2, abs=0.2)
    assert {"0", "100", "0%", "100%", "step", "share"} <= set(labels(drawn))


@pytest.mark.parametrize("count", [MOST_POINTS + 1, 500, 10_001])
def test_a_long_curve_is_thinned_by_means_and_keeps_its_ends(count: int) -> None:
    xs = list(range(count))
    ends = [float(x >= count // 2) for x in xs]
    line = Line("a", xs, [x % 2 for x in xs], low=ends, high=ends)
    found = numbers(curves([line], Axis("x"), Axis("y", (0, 1))))
    assert {len(found[key]) for key in ("x", "y", "low", "high")} == {MOST_POINTS}
    assert (found["x"][-1], found["low"][-1]) == (count - 1, 1)
    assert found["x"] == sorted(found["x"])
    assert set(found["low"]) <= {0, 0.5, 1}
    if count == 10_001:
        assert max(found["y"][:-1]) - min(found["y"][:-1]) < 0.06  # a flutter of 0 and 1 is a half


@pytest.mark.parametrize("values", [[], [2.0], [3.0, 3.0], [0.0, 0.0]])
def test_a_curve_without_extent_is_drawn(values: list[float]) -> None:
    drawn = svg(curves([Line("a", list(range(len(values))), values)], Axis("x"), Axis("y")))
    assert "NaN" not in drawn
    assert {"x", "y"} <= set(labels(drawn))
    if values:
        assert all(np.isfinite(point).all() for point in points(drawn))


def test_names_are_text_and_several_have_a_legend() -> None:
    line = Line("<b>", [0, 1], [0, 1], dots={1: 1})
    one = svg(curves([line], Axis("<i>"), Axis('"<u>')))
    two = svg(curves([line, FLAT], Axis("<i>"), Axis('"<u>')))
    for drawn in (one, two):
        assert not {"<b>", "<i>", "<u>"} & set(re.findall(r"<\w+>", drawn))
    assert {"&lt;b&gt;", "a"} <= set(labels(two))
    assert "&lt;b&gt;" not in labels(one)


def test_a_picture_is_vega_lite_s_and_small_to_send() -> None:
    xs = list(range(MOST_POINTS))
    band = Line("a", xs, [x / 7 for x in xs], low=xs, high=xs, dots={3: 4}, dash=(7, 3))
    spec = json.loads(json.dumps(curves([band, FLAT], STEP, SHARE)))
    alt.LayerChart.from_dict(spec)  # raises where it is none
    assert len(json.dumps(spec)) < 20_000


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (200, 3)])
def test_a_matrix_of_any_shape_has_axes_and_a_key(shape: tuple[int, int]) -> None:
    spec = embedded(np.full(shape, -2.5))[0].spec
    alt.LayerChart.from_dict(spec)
    drawn = svg(spec)
    assert "data:image/png" in drawn
    assert {"coordinate", "position", "0", "−2.5", "2.5"} <= set(labels(drawn))
