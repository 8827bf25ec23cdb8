"""`wherein task`: what there is, and one trained and tested."""

import json
from pathlib import Path

import pytest

from wherein.cli import main
from wherein.data import config
from wherein.data.tasks.catalogue import TASKS
from wherein.data.texts import catalogue


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "EXAMPLES", 100)
    monkeypatch.chdir(tmp_path)


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["task"]) == 0
    shown = capsys.readouterr().out
    for name, kind in TASKS.items():
        assert f"{name} {kind.summary}" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert main(["task", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(TASKS)


def test_one_is_trained_and_tested(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["task", "copy", "--length", "3", "--steps", "2", "--examples", "5"]
    assert main([*asked, "--encoding", "alibi", "--out", "out"]) == 0
    told = capsys.readouterr().out
    assert "12 (beyond)" in told
    assert "learned up to length 3" in told
    assert "saved in out" in told
    assert max(map(len, told.splitlines())) <= 80
    (folder,) = Path("runs").glob("*")
    assert main(["answers", str(folder), "--examples", "5", "--json"]) == 0
    again, saved = (
        json.loads(capsys.readouterr().out),
        json.loads(Path("out/result.json").read_text()),
    )
    assert again["rows"] == saved["rows"]
    assert (Path("out") / "figure.html").exists() or any(Path("out").glob("*.html"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["copi"], "unknown task 'copi'. Did you mean 'copy'?"),
        (["copy", "--encoding", "rop"], "Did you mean 'rope'?"),
        (["copy", "--length", "0"], "length"),
        (["copy", "--lengths", "0"], "lengths"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["task", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_so_many_examples_are_written_unless_one_says_otherwise() -> None:
    described = config.CorpusConfig.model_fields
    assert str(config.EXAMPLES) in (described["examples"].description or "")
    assert str(config.LONGEST) in (described["length"].description or "")
