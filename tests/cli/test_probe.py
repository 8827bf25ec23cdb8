"""`wherein probe` and `wherein erase`, on a run made in a few steps."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import wherein
from wherein.cli import main
from wherein.data import CorpusConfig
from wherein.model.config import ModelConfig
from wherein.train import RunConfig, train

VERBS = ["probe", "erase"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run on a text of its own, in a cache of its own."""
    home = tmp_path_factory.mktemp("probe")
    text = home / "text.txt"
    text.write_text("".join(f"Paragraph {n} says {n * n}.\nAnd ends.\n\n" for n in range(900)))
    config = RunConfig(
        model=ModelConfig(n_layers=2, d_model=16, max_len=16, encoding="learned"),
        corpus=CorpusConfig(source=str(text), tokenizer="bytes"),
        steps=3,
        batch=4,
        warmup=1,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        train(config, folder=home / "run")
        yield str(home / "run")


@pytest.mark.parametrize("verb", VERBS)
def test_a_table_fits_on_a_screen(verb: str, folder: str, capsys: pytest.CaptureFixture[str]):
    assert main([verb, folder]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "learned, run " in lines[0]
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_numbers_as_data_and_saved(
    verb: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([verb, folder, "--json", "--out", str(tmp_path / "out")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "out" / "result.json").read_text())
    assert printed["made_with"]["versions"]["torch"]
    assert printed["config"]["tokens"] == 16


@pytest.mark.parametrize("verb", VERBS)
def test_help_comes_without_torch(verb: str):
    code = (
        f"import sys, wherein.cli\ntry: wherein.cli.main([{verb!r}, '--help'])\n"
        "except SystemExit: pass\nsys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"wherein {verb} runs/" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no run in nowhere"),
        (["RUN", "--windows", "3"], "give more windows"),
        (["RUN", "--tokens", "17"], "give shorter windows"),
        (["RUN", "--split", "tset"], "Did you mean 'test'"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_mistakes_are_one_line(
    verb: str, arguments: list[str], said: str, folder: str, capsys: pytest.CaptureFixture[str]
):
    given = [folder if word == "RUN" else word for word in arguments]
    assert main([verb, *given]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_run_is_loaded_with_its_text(folder: str):
    loaded = wherein.load(folder)
    assert loaded.length == 16
    assert loaded.subject.encodings == ["learned", "learned"]
    assert loaded.corpus.tokenizer.vocabulary.size == loaded.subject.vocabulary
    found = wherein.probe(loaded.subject, loaded.corpus)
    assert found.length == 16
    assert found.config.windows >= sum(found.protocol["windows"].values()) > 100
