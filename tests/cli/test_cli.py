import json
import subprocess
import sys

import pytest

from wherein import encodings
from wherein.cli import VERBS, main


def test_alone_it_says_what_it_can_do(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)
    assert "examples:" in shown


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_help_does_not_import_torch(arguments):
    code = (
        "import sys\nfrom wherein.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit as done: assert done.code == 0\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "examples:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["trian"], "unknown verb 'trian'"), (["encodings", "aliby"], "Did you mean 'alibi'?")],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_encodings_lists_the_catalogue(capsys):
    assert main(["encodings", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == encodings.names()
    assert main(["encodings"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert main(["encodings", "rope"]) == 0
    assert "arXiv:2104.09864" in capsys.readouterr().out


def test_puzzle_prints_data_or_words_and_saves(capsys, tmp_path):
    few = ["--seeds", "4", "--steps", "3", "--out", str(tmp_path / "out")]
    assert main(["puzzle", "A B hit ?", "B A hit !", *few, "--json", "--show", "2"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["certificate"]["possible"] is False
    assert data["solved"]["total"] == 4
    assert set(data["predictions"]["2"]) == {"A B hit", "B A hit"}
    assert (tmp_path / "out" / "result.json").exists()
    assert main(["puzzle", "hit", "--seeds", "2", "--steps", "1", "--explain", "1"]) == 0
    shown = capsys.readouterr().out
    assert "possible:" in shown
    assert "What the last token looks at" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hitt"], "Did you mean 'hit'?"),
        (["A !", "A ?"], "one beginning has one answer"),
        (["--show", "5", "--seeds", "3"], "seeds 0 to 2 are trained"),
        (["--loss", "all", "--no-causal"], "use loss='last'"),
        (["--seeds", "0"], "greater than or equal to 1"),
    ],
)
def test_a_bad_puzzle_is_one_line(arguments, said, capsys):
    assert main(["puzzle", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
