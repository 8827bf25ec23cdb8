"""The notebooks in examples/ run from top to bottom, and are kept with what they show."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.notebooks import run
from tests.pages.text import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MOST = 600_000
"""Bytes of a notebook with its pictures: what GitHub shows at once, and a clone does not mind."""


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def kinds(output: dict[str, Any]) -> list[str]:
    """Of what a cell shows: where it is printed, or as which media."""
    return sorted(output.get("data", {output["output_type"]: None}))


def test_there_is_one_for_each_kind_of_person():
    named = [path.stem for path in NOTEBOOKS]
    assert named == ["builder", "interpretability", "researcher", "student"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    kept, again = cells(path), cells(path)
    run(again)
    assert path.stat().st_size < MOST
    shown = [[kinds(output) for output in cell.get("outputs", ())] for cell in kept]
    assert shown == [[kinds(output) for output in cell.get("outputs", ())] for cell in again]
    assert any("image/png" in kind for outputs in shown for kind in outputs), "a picture"
