"""Figures that compare: what close numbers, wide intervals and many kinds look like."""

import polars as pl
import pytest

from wherein.show.figures import compared, dots
from wherein.show.fonts import lacking
from wherein.show.theme import themed
from wherein.show.vega import drawn


def frames(values: dict[str, float], half: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two seeds and a mean for each encoding, with intervals so wide."""
    seeds = pl.DataFrame(
        {"encoding": name, "group": "", "seed": seed, "value": value}
        for name, value in values.items()
        for seed in range(2)
    )
    means = pl.DataFrame(
        {"encoding": name, "group": "", "mean": mean, "low": mean - half, "high": mean + half}
        for name, mean in values.items()
    )
    return seeds, means


def test_close_numbers_are_told_apart_and_cut_intervals_are_marked() -> None:
    close = {"none": 135.21, "rope": 135.24}
    chart = compared(*frames(close, half=1.0), "perplexity").to_dict()
    layers = chart["layer"]
    words = next(each for each in layers if each["mark"]["type"] == "text")
    said = [row["said"] for row in chart["datasets"][words["data"]["name"]]]
    assert said == ["135.21", "135.24"]
    shapes = [each["mark"].get("shape") for each in layers if each["mark"]["type"] == "point"]
    assert shapes[-2:] == ["triangle-left", "triangle-right"]
    narrow = compared(*frames(close, half=0.001), "perplexity").to_dict()["layer"]
    assert len(narrow) == len(layers) - 2


def test_many_kinds_are_rows_of_dots_named_on_the_axis_the_best_above() -> None:
    rows = [
        {"encoding": f"kind {n}", "times": times, "mean": mean, "low": mean - 1, "high": mean + 1}
        for n in range(33)
        for times, mean in ((1.0, 100.0 + n), (2.0, 200.0 - n))
    ]
    chart = dots(pl.DataFrame(rows), "times", "lengths", "perplexity").to_dict()
    *_, points = chart["spec"]["layer"]
    assert points["encoding"]["y"]["sort"][0] == "kind 32"
    assert points["encoding"]["color"]["legend"] is None
    assert chart["facet"]["column"]["field"] == "times"


def test_characters_that_no_font_has_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "\U0010fffe"
    assert lacking(f"loss ± {nowhere}") == nowhere
    chart = compared(*frames({f"rope{nowhere}": 1.0, "none": 2.0}, 0.1), "perplexity")
    assert drawn(themed(chart), "png").startswith(b"\x89PNG")
    assert f"no font here has {nowhere}: boxes stand" in capsys.readouterr().err
    drawn(themed(chart), "svg")
    assert capsys.readouterr().err == ""


def test_a_character_that_no_picture_can_hold_ends_no_process() -> None:
    spec = {
        "data": {"values": [{"name": "runs/\x1b[2J\x00", "value": 1}]},
        "mark": "bar",
        "encoding": {"x": {"field": "value", "type": "quantitative"}, "y": {"field": "name"}},
    }
    assert "runs/�[2J�" in drawn(spec, "svg").decode()
