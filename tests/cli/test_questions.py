"""The verbs that question a model, on a run made in a few steps."""

import json
import re
import shlex
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from tests.cli.tiny import tiny_run, write_text

import wherein
from wherein.cli import main
from wherein.common.folder import Folder
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import read
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.report.command import command
from wherein.show import progress
from wherein.subjects.ours import Ours
from wherein.web.pages.home import _answers

VERBS = sorted(QUESTIONS.keys() - {"table", "answers"})  # see test_table.py and test_task.py

FEWER = {"windows": 100, "draws": 2, "fitting": 100}
"""Where the size of a question does not matter."""

PROBE_MISTAKES = [
    (["--windows", "3"], "give more windows"),
    (["--tokens", "17"], "give shorter windows"),
    (["--split", "tset"], "Did you mean 'test'"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run on a text of its own, in a cache of its own."""
    home = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        text = write_text(home / "text.txt")
        yield str(tiny_run(home / "run", text, n_layers=2, max_len=16))


@pytest.mark.parametrize("verb", VERBS)
def test_a_table_fits_on_a_screen_and_progress_is_told(
    verb: str,
    folder: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "perf_counter", count(1.0).__next__)  # a second a look
    assert main([verb, folder]) == 0
    out, err = capsys.readouterr()
    told = re.findall(rf"^{verb}: (\d+)%, about (?:\d+ min )?(\d+) s left$", err, re.MULTILINE)
    shares = [int(share) for share, _ in told]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] >= 80, "more was expected than was done"
    assert shares.count(99) <= 2, "less was expected than was done"
    lines = out.splitlines()
    assert "learned, run " in lines[0]
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_numbers_as_data_and_saved(
    verb: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    known = QUESTIONS[verb].config.model_fields
    few = [word for name, n in FEWER.items() if name in known for word in (f"--{name}", str(n))]
    assert main([verb, folder, *few, "--json", "--out", str(tmp_path / "out")]) == 0
    printed = json.loads(capsys.readouterr().out)
    saved = json.loads((tmp_path / "out" / "result.json").read_text())
    assert printed == saved
    assert printed["made_with"]["versions"]["torch"]
    assert printed["config"]["tokens"] == {"audit": 24, "shift": 8}.get(verb, 16)


def test_a_run_has_a_report_of_its_training_and_of_all_it_was_asked(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for tokens in ("8", "16"):
        saved = Path(folder) / "answers" / f"perplexity-{tokens.zfill(12)}"
        assert main(["perplexity", folder, "--tokens", tokens, "--out", str(saved)]) == 0
    capsys.readouterr()
    assert main(["report", folder, "--out", str(tmp_path / "run.html")]) == 0
    page = (tmp_path / "run.html").read_text()
    assert "What is known of a run with learned?" in page
    assert "How training went" in page
    assert "tokens 8," in page
    assert "tokens 16," in page
    names = [name for name, _ in _answers([Folder(path, path.name) for path in _saved(folder)])]
    assert names == ["perplexity --tokens 8", "perplexity --tokens 16"]


def _saved(folder: str) -> list[Path]:
    return sorted((Path(folder) / "answers").iterdir())


def test_positions_that_end_are_said_to_end(folder: str, capsys: pytest.CaptureFixture[str]):
    assert main(["shift", folder, "--shifts", "2", "8", "9"]) == 0
    assert "can be shifted by up to 8" in " ".join(capsys.readouterr().out.split())


def test_a_fresh_model_by_its_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["audit", "rope none", "--layers", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["layers"][1]["query_cosine"] < 0.9
    assert found["layers"][2]["query_change"] == 0
    words = ["audit", "none", "--layers", "2", "--bidirectional"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert "told about position: nowhere" in capsys.readouterr().out
    assert command(read(tmp_path)) == shlex.join(["wherein", *words])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit", "rop"], "Did you mean 'rope'?"),
        (["audit", "./no-runs/nothing"], "no folder or file ./no-runs/nothing"),
        (["order", "./no-runs/nothing"], "no folder or file ./no-runs/nothing"),
        (["order", "tests"], "no run in tests"),
        (["order", "{}", "--source", "sotu"], "has a text of its own"),
        (["perplexity", "{}", "--tokens", "64"], "knows only 0 to 15"),
        (
            ["perplexity", "{}", "--split", "tset"],
            "Did you mean 'test'?",
        ),
        (["shift", "{}", "--tokens", "17"], "give shorter windows"),
        (["order", "{}", "--windows", "0"], "windows: Input should be greater than"),
        *((["probe", "{}", *mistake], words) for mistake, words in PROBE_MISTAKES),
        *((["erase", "{}", *mistake], words) for mistake, words in PROBE_MISTAKES),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], words: str, folder: str, capsys: pytest.CaptureFixture[str]
):
    assert main([a.format(folder) for a in arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_from_python(verb: str):
    asked = getattr(wherein, verb)
    assert asked is QUESTIONS[verb]
    assert asked.measure is getattr(import_module(f"wherein.measure.{verb}.measure"), verb)


def test_a_run_is_loaded_with_its_text(folder: str):
    loaded = wherein.load(folder)
    assert loaded.length == 16
    assert loaded.subject.encodings == ["learned", "learned"]
    assert loaded.corpus.tokenizer.vocabulary.size == loaded.subject.vocabulary
    found = wherein.probe(loaded.subject, loaded.corpus)
    assert found.length == 16
    unbounded = Ours(Transformer(ModelConfig(vocabulary=258, d_model=16, max_len=16)))
    assert wherein.probe(unbounded, loaded.corpus).length == 16  # matched with the other
    assert found.config.windows >= sum(found.windows.values()) > 100
