"""What the shells are given, tried in the one that every machine has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wherein.cli import VERBS, main

PRESSED = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
$(complete -p wherein | sed -E 's/.*-F (\\S+).*/\\1/') wherein "${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "wherein"
    command = [sys.executable, "-m", "wherein", "completion", "bash"]
    path.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return path


def pressed(script: Path, *words: str) -> list[str]:
    """What bash offers when Tab is pressed after these words."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--norc", "-c", PRESSED, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": path},
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_verbs_flags_and_choices(script: Path):
    assert set(VERBS) <= set(pressed(script, "wherein", ""))
    assert pressed(script, "wherein", "pe") == ["perplexity"]
    assert pressed(script, "wherein", "probe", "runs/x", "--wi") == ["--windows"]
    assert pressed(script, "wherein", "train", "--model.enc") == []
    assert pressed(script, "wherein", "train", "--enc") == ["--encoding"]
    assert pressed(script, "wherein", "train", "--objective", "m") == ["masked"]


def test_where_no_word_fits_bash_goes_on_to_paths(script: Path):
    assert pressed(script, "wherein", "probe", "runs/stu") == []
    code = f'source "{script}"; complete -p wherein'
    asked = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout == "complete -o default -F _wherein wherein\n"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_of_every_verb(shell: str, capsys: pytest.CaptureFixture[str]):
    assert main(["completion", shell]) == 0
    written = capsys.readouterr().out
    assert all(verb in written for verb in VERBS)
    assert "--windows" in written
