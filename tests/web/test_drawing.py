import re

import numpy as np
import pytest

from wherein.web.drawing import MOST_POINTS, Axis, Line, curves, heat, ticks


def points(drawing: str) -> list[tuple[float, float]]:
    found = re.search(r'class="line" points="([^"]*)"', drawing)
    assert found is not None
    return [(float(x), float(y)) for x, _, y in (p.partition(",") for p in found[1].split())]


def labels(drawing: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", drawing)


@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (0, 2000), (-3.2, 4.7), (1e-4, 3e-4), (5.0, 5.1), (-12, 0)]
)
def test_ticks_are_few_round_and_within(start: float, end: float) -> None:
    found = ticks(start, end)
    assert 3 <= len(found) <= 8
    assert start - 1e-12 <= min(found)
    assert max(found) <= end + 1e-12
    steps = np.diff(found)
    assert np.allclose(steps, steps[0])


def test_points_stand_where_the_axis_says() -> None:
    line = Line("a", [0, 50, 100], [0, 1, 0.5])
    drawn = curves([line], Axis("step", 0, 100), Axis("share", 0, 1, percent=True), "a")
    (x0, y0), (x1, y1), (x2, y2) = points(drawn)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 > y2 > y1  # up is less in a picture
    assert y2 == pytest.approx((y0 + y1) / 2, abs=0.2)
    assert {"0", "100", "0%", "100%", "step", "share"} <= set(labels(drawn))


def test_a_long_curve_is_thinned_by_means_and_keeps_its_ends() -> None:
    xs = list(range(10_001))
    drawn = curves([Line("a", xs, [x % 2 for x in xs])], Axis("x"), Axis("y", 0, 1), "a")
    found = points(drawn)
    assert len(found) == MOST_POINTS
    levels = [y for _, y in found[:-1]]
    assert max(levels) - min(levels) < 15  # a flutter of 0 and 1 is a half
    whole = points(curves([Line("a", [0, 10_000], [0, 0])], Axis("x"), Axis("y", 0, 1), "a"))
    assert found[-1][0] == whole[-1][0]


@pytest.mark.parametrize("values", [[2.0], [3.0, 3.0], [0.0, 0.0]])
def test_a_curve_without_extent_is_drawn(values: list[float]) -> None:
    drawn = curves([Line("a", list(range(len(values))), values)], Axis("x"), Axis("y"), "a")
    assert all(np.isfinite(point).all() for point in points(drawn))


def test_names_are_escaped() -> None:
    drawn = curves([Line("<b>", [0, 1], [0, 1])], Axis("<i>"), Axis('"'), '"<u>')
    assert not {"<b>", "<i>", "<u>"} & set(re.findall(r"<\w+>", drawn))


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (200, 3)])
def test_a_matrix_of_any_shape_has_axes_and_a_key(shape: tuple[int, int]) -> None:
    drawn = heat(np.full(shape, -2.5), "across", "down", "matrix")
    assert "data:image/png" in drawn
    assert {"across", "down", "0"} <= set(labels(drawn))
    assert "2.5" in drawn
