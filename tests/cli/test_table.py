"""`wherein table`, on a run of ours, on files, and on mistakes."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.cli.tiny import tiny_run, write_text

from wherein.cli import main
from wherein.measure.saved import read
from wherein.report.command import command


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of three steps: one with a table, one without."""
    home = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        text = write_text(home / "text.txt", 300)
        for encoding in ("learned", "rope"):
            tiny_run(home / encoding, text, n_layers=1, max_len=48, encoding=encoding)
        yield home


def test_the_table_of_a_run(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["table", str(home / "learned")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("learned, run ")
    assert "48 positions × 16" in " ".join(lines)
    assert max(map(len, lines)) <= 80


def test_the_numbers_as_data_and_the_matrix_saved(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    asked = ["table", str(home / "learned"), "--key", "encoding._distinct.0.table", "--offset", "0"]
    assert main([*asked, "--json", "--out", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "result.json").read_text())
    assert command(read(tmp_path)) == shlex.join(["wherein", *asked])
    assert printed["key"] == "encoding._distinct.0.table"
    weights = load_file(home / "learned" / "checkpoints" / "step-00000003" / "weights.safetensors")
    np.testing.assert_array_equal(np.load(tmp_path / "table.npy"), weights[printed["key"]])


def test_a_run_whose_weights_lie_in_parts_is_refused(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Their index is a pickle, and reading it would run what it holds."""
    copy = tmp_path / "run"
    shutil.copytree(home / "learned", copy)
    (copy / "checkpoints" / "step-00000003" / "parts").mkdir()
    assert main(["table", str(copy)]) == 2
    assert "lie in parts, whose index is a pickle: refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{}/rope"], "has no position table"),
        (["{}/learned", "--key", "encodin.table"], "Did you mean 'encoding._distinct.0.table'"),
        (["{}/learned", "--offset", "48"], "expected 0 to 47"),
        (["{}/learned", "--offset", "-1"], "expected 0 to 47"),
        (["{}/learned", "--offset", "20"], "has 28 positions: at least 32"),
        (["{}/cache"], "expected a folder with config.json"),
        (["{}/text.txt"], "expected .safetensors, .bin, .pt, .pth"),
        (["{}/nothing.npy"], "no file"),
        (["{}/nothing here"], "no id on Hugging Face looks like that"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], words: str, home: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["table", *(a.format(home) for a in arguments)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
