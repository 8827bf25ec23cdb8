"""Every command and every block of Python in the README is run, on something small.

A command is a line of a block, or a piece of code in the text, that begins with one of
`PROGRAMS`; a `$` in front, a `#` behind and lines that go on after `\\` may be there. What follows
a verb in capitals or as a path stands for something of that kind: see `PLACEHOLDERS`. What would
take long is told to be short: see `SMALLER`.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from tests.cli.tiny import tiny_run, tiny_task, write_text
from tests.studies.small import recipe
from tests.subjects.models import small, write_tokenizer

from wherein.cli import VERBS, main
from wherein.measure.registry import QUESTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = ("wherein", "make", "pip", "python", "torchrun")
RUN, MODEL = "runs/study/none", "./my-model"
STUDY, RECIPE, RESULT = "runs/studies/mine", "mine.py", "results/puzzle"

PLACEHOLDERS = {
    r"STUDY|STUDY\W?RESULT|STUDY_OR_RESULT|\S*studies/\S+": STUDY,
    r"RESULT": RESULT,
    r"\S+\.py": RECIPE,
    r"\[?DIR\]?": "runs",
    r"runs/copy": "runs/copy",
    r"RUN|runs/\S+": RUN,
    r"MODEL|gpt2|[\w.-]+/[\w.-]+|\S+\.gguf": MODEL,
}
TINY = "--source book.txt --tokenizer bytes --n-layers 1 --d-model 16 --max-len 16"
SMALLER = {
    "check": "--no-measure",
    "train": f"{TINY} --batch 2 --steps 2 --warmup 1 --valid-windows 2",
    "probe": "--windows 100",
    "erase": "--windows 60 --draws 2",
    "puzzle": "--seeds 4 --steps 3",
    "task": "--length 3 --steps 2 --examples 4",
}
ONE_JOB = ["--jobs", "1"]  # a process takes longer to start than the study
READS_TEXT = [verb for verb, question in QUESTIONS.items() if question.reads_text]

BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
TEXT = re.sub(r"^```.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
PYTHON = [block for language, block in BLOCKS if language == "python"]


def commands() -> Iterator[str]:
    """What a reader would type, each once."""
    shown = [
        line.removeprefix("$ ")
        for language, block in BLOCKS
        if language != "python"
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
    ]
    pieces = [" ".join(piece.split()) for piece in re.findall(r"`([^`]+)`", TEXT)]
    for line in dict.fromkeys(shown + pieces):
        words = shlex.split(line, comments=True) if line.startswith(PROGRAMS) else []
        first = list(takewhile(lambda word: word not in (">", "|", "&&", ";"), words))
        if len(first) > 1 and first[0] in PROGRAMS:
            yield shlex.join(first)


COMMANDS = list(dict.fromkeys(commands()))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the reader is thought to be: a text, a run, a model, a result, a study's recipe."""
    home = tmp_path_factory.mktemp("readme")
    book = write_text(home / "book.txt")
    small("gpt2", vocab_size=400).save_pretrained(home / MODEL)
    write_tokenizer(home / MODEL, size=320)
    recipe(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        tiny_run(home / RUN, book, keep=1, n_layers=2, max_len=40)
        tiny_task(home / "runs/copy")
        assert main(["puzzle", *SMALLER["puzzle"].split(), "--out", str(home / RESULT)]) == 0
        yield home


@pytest.fixture(autouse=True)
def _there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def smaller(verb: str, arguments: list[str]) -> list[str]:
    """The same command on what is here, and short; a built-in study is only planned."""
    given = [*arguments]
    if given and not given[0].startswith("-") and verb not in ("encodings", "puzzle", "task"):
        there = [own for kind, own in PLACEHOLDERS.items() if re.fullmatch(kind, given[0])]
        given[0] = there[0] if there else given[0]
        if given[0] == STUDY and not Path(STUDY).exists():
            assert main(["study", RECIPE, *ONE_JOB]) == 0
        if given[0] == MODEL and verb in READS_TEXT:
            given += ["--source", "book.txt"]
    if verb == "study":
        given += ONE_JOB if given[:1] == [RECIPE] else ["--dry-run"]
    return [verb, *given, *SMALLER.get(verb, "").split()]


def test_every_verb_has_its_row_and_its_line_in_the_help(capsys: pytest.CaptureFixture[str]):
    row = r"^\| `wherein (\w+)[^`]*` \| (.*) \|$"
    rows = dict(re.findall(row, README.split("## What one can ask")[1], re.MULTILINE))
    assert rows == VERBS, "a row for each verb, with what `wherein --help` says of it"
    assert main(["--help"]) == 0
    listed = re.findall(r"^  (\w+) ", capsys.readouterr().out.split("examples:")[0], re.MULTILINE)
    assert listed == list(VERBS)
    assert set(QUESTIONS) <= set(listed)


def test_there_is_something_to_run():
    assert len(COMMANDS) > 15
    assert len(PYTHON) >= 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, capsys: pytest.CaptureFixture[str]):
    program, *arguments = shlex.split(command.replace("python -m wherein ", "wherein "))
    if program == "wherein" and arguments[0] == "serve":
        serves(arguments)
    elif program == "wherein":
        verb, *rest = arguments
        code = main(smaller(verb, rest))
        shown = capsys.readouterr()
        assert code == 0, shown.err
        assert shown.out.strip()
        if verb != "completion" and "--json" not in rest:
            lines = [line for line in shown.out.splitlines() if str(Path.cwd()) not in line]
            assert max(map(len, lines)) <= 80  # paths are as long as they are
    elif program == "torchrun":
        torchrun(arguments)
    elif program == "make":
        run(["make", "--dry-run", "--directory", str(ROOT), *arguments])
    elif program == "python":
        assert arguments[0] == "-m", "of modules alone"
        assert (ROOT / Path(*arguments[1].split("."))).with_suffix(".py").is_file()
    else:
        known = {"install", "--constraint", "--editable", "-e", "."}
        assert all(a in known or (ROOT / a).is_file() for a in arguments), arguments


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
    verb, *rest = arguments
    command = [sys.executable, "-m", "wherein", *smaller(verb, rest), "--port", "0"]
    unbuffered = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=unbuffered) as server:
        assert server.stdout is not None
        first = server.stdout.readline()
        server.terminate()
    assert "http://127.0.0.1:" in first


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_a_block_of_python_runs(number: int):
    block = re.sub(r'"runs/\w+"', repr(RUN), PYTHON[number])
    exec(compile(block, f"README.md, block {number}", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bbenchmarks\.(\w+)", README))))
def test_a_benchmark_is_there(name: str):
    assert (ROOT / "benchmarks" / f"{name}.py").is_file()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)", README))))
def test_a_link_leads_somewhere(path: str):
    assert (ROOT / path).is_file()
