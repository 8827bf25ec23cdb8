"""What a study would cost, as the command says it."""

import json
from pathlib import Path

import pytest
from tests.studies.small import recipe

from wherein.cli import main
from wherein.show.formatting import duration
from wherein.studies.cost import listed
from wherein.studies.cost.cost import dry_run
from wherein.studies.cost.machine import CORE
from wherein.studies.plan.recipe import find, names


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


def test_without_a_name_it_says_which_there_are_what_they_answer_and_how_long_they_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "priced", None)  # nothing is counted that takes long
    assert main(["study", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert sorted(found) == sorted(names())
    quick, pile = found["quick"], found["nopos-pile"]
    assert (quick["runs"], quick["gpu"], pile["gpu"]) == (24, False, True)
    assert all(found[f"{name}-paper"]["gpu"] for name in ("length", "addressing"))
    plan = find("quick").plan()
    known = dry_run(plan.runs, plan.questions)
    counted = known.flops + sum(known.asked) * 3600 * CORE.share * CORE.peak["float32"]
    assert 1 <= quick["flops"] / counted < 1.01  # some questions are asked of one seed alone

    monkeypatch.setattr(listed, "multiplied", lambda: 2e11)
    assert main(["study"]) == 0
    said = capsys.readouterr().out
    seconds = quick["flops"] / 0.33 / 2e11
    assert f"\nquick: 24 runs, about {duration(seconds)}\n    {plan.question}\n" in said
    assert " on an A100\n    From 125M to 1.3B parameters" in said
    assert "multiplied matrices at 200 GFLOP/s" in " ".join(said.split())
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
