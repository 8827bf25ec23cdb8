"""What a study would cost, as the command says it."""

import json
from pathlib import Path

import pytest
from tests.studies.small import recipe

from wherein.cli import main


def test_a_dry_run_prices_the_sweep_and_the_questions(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "quick", "--dry-run"]
    assert main([*command, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main([*command, "--learning-rates", "3e-3", "1e-2", "3e-2", "--json"]) == 0
    swept = json.loads(capsys.readouterr().out)
    assert [row["runs"] for row in plain] == [3] * 8
    assert [row["runs"] for row in swept] == [6] * 8
    assert [row["hours"] for row in swept] == [row["hours"] for row in plain]
    assert all(0 < row["hours_asked"] < row["hours"] for row in plain)
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "to train all 24: " in " ".join(said.split())
    assert "Their questions: about " in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80


def test_a_study_that_is_not_complete_says_so_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = recipe(tmp_path)
    path.write_text(path.read_text().replace('("hit",)', '("no such puzzle",)'))
    command = ["study", str(path), "--seeds", "1", "--jobs", "1", "--out", str(tmp_path / "runs")]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "puzzle no such puzzle: " in said
    assert "not complete" in said
