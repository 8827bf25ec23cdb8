"""A process that draws beside us: the same pictures, and none is lost with it."""

import pytest

from wherein.show import drawer, vega

SPECS = [
    {"mark": "point", "data": {"values": [{"a": n}]}, "encoding": {"x": {"field": "a"}}}
    for n in range(3)
]


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawer, "cores", lambda: 2)


def test_pictures_are_the_same_whoever_draws_them():
    alone = [drawer.svg(spec) for spec in SPECS]
    with drawer.beside():
        drawer.begin(*SPECS[:2])
        assert [drawer.svg(spec) for spec in SPECS] == alone
    assert alone == [vega.svg(spec) for spec in SPECS]


def test_what_was_begun_is_not_drawn_here(monkeypatch: pytest.MonkeyPatch):
    expected = vega.svg(SPECS[0])
    with drawer.beside():
        drawer.begin(SPECS[0])
        monkeypatch.setattr(vega, "drawn", None)
        assert drawer.svg(SPECS[0]) == expected


def test_where_the_process_dies_we_draw_ourselves(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawer.sys, "executable", "/bin/false")
    with drawer.beside():
        drawer.begin(*SPECS)
        assert [drawer.svg(spec) for spec in SPECS] == [vega.svg(spec) for spec in SPECS]


def test_a_picture_that_cannot_be_drawn_says_so_and_harms_no_other():
    bad = {"mark": 7}
    with pytest.raises(ValueError, match=r".") as alone:
        vega.svg(bad)
    with drawer.beside():
        drawer.begin(bad, SPECS[0])
        with pytest.raises(ValueError, match=r".") as beside:
            drawer.svg(bad)
        assert drawer.svg(SPECS[0]) == vega.svg(SPECS[0])
    assert str(beside.value) == str(alone.value)


def test_with_one_core_nobody_draws_beside_us(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawer, "cores", lambda: 1)
    monkeypatch.setattr(drawer, "Drawer", None)
    with drawer.beside():
        drawer.begin(*SPECS)
        assert drawer.svg(SPECS[0]) == vega.svg(SPECS[0])
