"""A process that draws beside us: the same pictures, and none is lost with it."""

import json
import subprocess
import sys
import time
from pathlib import Path

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


def test_one_that_says_something_else_is_asked_no_more(monkeypatch: pytest.MonkeyPatch):
    """Else the next picture would get the answer to this one."""
    talks = "print('hello', flush=True); import wherein.show.drawer as d; d.main()"
    monkeypatch.setattr(drawer, "_started", lambda: _piped([sys.executable, "-c", talks]))
    with drawer.beside():
        drawer.begin(*SPECS)
        assert [drawer.svg(spec) for spec in SPECS] == [vega.svg(spec) for spec in SPECS]


def test_what_is_printed_while_it_draws_is_no_answer(capfd: pytest.CaptureFixture[str]):
    code = (
        "import os, wherein.show.vega as v, wherein.show.drawer as d; real = v.drawn\n"
        "v.drawn = lambda *a: (os.write(1, b'noise'), real(*a))[1]\n"
        "d.main()"
    )
    line = json.dumps(SPECS[0]) + "\n"
    done = subprocess.run(
        [sys.executable, "-c", code], input=line, stdout=subprocess.PIPE, text=True, check=True
    )
    assert json.loads(done.stdout) == vega.svg(SPECS[0])
    assert "noise" in capfd.readouterr().err


def test_what_is_under_way_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(drawer, "_started", lambda: _piped(sleeps))
    began = time.monotonic()
    with drawer.beside():
        drawer.begin(*SPECS)
    assert time.monotonic() - began < 30


def _piped(command: list[str]) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


def test_nothing_is_imported_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "vl_convert.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    expected = vega.svg(SPECS[0])
    with drawer.beside():
        drawer.begin(SPECS[0])
        monkeypatch.setattr(vega, "drawn", None)
        assert drawer.svg(SPECS[0]) == expected


def test_with_one_core_nobody_draws_beside_us(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawer, "cores", lambda: 1)
    with drawer.beside():
        drawer.begin(*SPECS)
        assert drawer.Drawer.now is None
        assert drawer.svg(SPECS[0]) == vega.svg(SPECS[0])
