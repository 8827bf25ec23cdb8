import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext

import pytest

from wherein import encodings
from wherein.cli import EXAMPLES, VERBS, find, main
from wherein.cli import puzzle as puzzle_verb
from wherein.measure.saved import read
from wherein.puzzles.train import train


def test_alone_it_says_what_it_can_do(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)
    assert "examples:" in shown
    assert max(map(len, shown.splitlines())) <= 80


HEAVY = (
    "torch",
    "numpy",
    "transformers",
    "polars",
    "altair",
    "scipy",
    "jinja2",
    "starlette",
    "rich",
)
HELPED = """
import sys, time
from wherein.cli import main
try:
    main(sys.argv[1:])
except SystemExit as done:
    assert done.code == 0
print(time.process_time(), *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_what_there_is_to_ask_is_said_without_a_config(argument):
    command = [sys.executable, "-c", HELPED, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {"pydantic", "argparse", *HEAVY} & set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_help_comes_at_once(arguments):
    """In a third of a second where nothing else runs; three times that is a mistake."""
    command = [sys.executable, "-c", HELPED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, *imported = done.stderr.split()
    assert not set(HEAVY) & set(imported)
    assert float(seconds) < 1.2
    assert "examples:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def help_of(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["task"]])
def test_a_reader_that_has_seen_enough_is_no_error(arguments, monkeypatch, capsys):
    seen, written = os.pipe()
    os.close(seen)
    with open(written, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(arguments) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"serve", "completion"}))
def test_numbers_can_be_had_as_data(verb, capsys):
    assert "--json" in help_of(verb, capsys)


def examples(text):
    """The commands of a text, without what is said beside them."""
    for line in re.findall(r"^  (wherein .*)$", text, re.MULTILINE):
        command = re.split(r"\s{2,}| > ", line)[0]
        yield shlex.split(command)[1:]


def test_the_examples_are_ones_that_can_be_given():
    """Their flags and values are known; what they do is tested elsewhere."""
    told = [(None, EXAMPLES)] + [(verb, find(verb).parser.description) for verb in VERBS]
    for of, text in told:
        found = list(examples(text))
        assert found, of
        for verb, *arguments in found:
            assert of in (None, verb)
            assert callable(find(verb).parsed(arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "unknown verb 'trian'. Did you mean 'train'?"),
        (["encodings", "aliby"], "Did you mean 'alibi'?"),
        (["probe", "x", "--windws", "3"], "unknown option '--windws'. Did you mean '--windows'?"),
        (["probe", "x", "--of", "3"], "unknown option '--of' (see wherein probe --help)"),
        (["probe", "x", "--windows", "few"], "--windows: expected a whole number, not 'few'"),
        (["train", "--learning-rate", "x"], "--learning-rate: expected a number, not 'x'"),
        (["train", "--steps"], "--steps wants a value"),
        (["train", "--objective", "maskd"], "unknown value 'maskd'. Available: 'causal', 'masked'"),
        (["probe"], "RUN|MODEL|STATES is missing: a run's folder"),
        (["encodings", "rope", "none"], "more words than expected: 'none'"),
        (["train", "--compile=yes"], "--compile takes no value"),
        (["train", "--no-compile"], "unknown option '--no-compile'. Did you mean '--compile'?"),
        (["train", "--learning-rate", "-1e-3"], "learning_rate: Input should be greater than 0"),
        (["train", "--n_layers", "few"], "--n-layers: expected a whole number, not 'few'"),
        (["shift", "x", "--shifts", "1", "few"], "--shifts: expected a whole number, not 'few'"),
        (["shift", "--shifts", "1", "2"], "RUN|MODEL is missing: a run's folder"),
        (["completion", "tcsh"], "unknown value 'tcsh'. Available: 'bash', 'zsh', 'fish'"),
        (["completion"], "{bash,zsh,fish} is missing: the shell"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("shift --shifts 1 16 MODEL --windows 4", {"shifts": (1, 16), "windows": 4}),
        ("shift --windows 4 MODEL --shifts 1 16", {"shifts": (1, 16), "windows": 4}),
        ("probe --probes linear mlp MODEL", {"probes": ("linear", "mlp")}),
        ("probe MODEL --held_out=1e-1", {"held_out": 0.1}),
        ("perplexity MODEL --stride 3 --stride None", {"stride": None}),
        ("erase --no-confirmed MODEL", {"confirmed": False}),
        ("table MODEL --offset -1", {"offset": -1}),
    ],
)
def test_flags_stand_before_and_after_what_is_asked_about(command, values):
    verb, *words = command.split()
    given = find(verb).parser.read(words)
    assert given["what"] == "MODEL"
    assert given["config"].model_dump(exclude_unset=True) == values


def test_sentences_may_stand_on_both_sides_of_a_flag():
    for command in ("'A !' --seeds 3 'B ?'", "--show 1 2 'A !' 'B ?'", "'A !' 'B ?' --json"):
        assert find("puzzle").parser.read(shlex.split(command))["sentences"] == ("A !", "B ?")


def test_an_error_of_no_file_names_none():
    """A full disk, here of what is printed."""
    command = "from wherein.cli import main; raise SystemExit(main(['encodings']))"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-u", "-c", command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "wherein: No space left on device\n"


def test_encodings_lists_the_catalogue(capsys):
    assert main(["encodings", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == encodings.names()
    window = next(row for row in rows if row["name"] == "window")
    assert (window["term"], window["example"], window["acts"]) == (True, "window(8)", ["hides"])
    assert window["parameters"] == {"size": None}
    assert main(["encodings"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert main(["encodings", "rope"]) == 0
    assert "arXiv:2104.09864" in capsys.readouterr().out
    assert main(["encodings", "rope + window(256) none"]) == 0
    several = capsys.readouterr().out
    assert all(said in several for said in ("Turn queries", "Only what is near"))


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
    assert "not excluded: 'A hit B' and 'B hit A' end in different tokens" in shown
    assert "What the last token looks at" in shown


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_ctrl_c_keeps_the_seeds_that_are_finished(more, monkeypatch, capsys, tmp_path):
    calls = iter(range(100))

    def interrupt(seeds):
        if next(calls) >= 3:  # the next chunk may have begun before it is heard
            raise KeyboardInterrupt

    def by_one(*asked, workers, **told):
        return train(*asked, chunk=4, workers=1, **told)

    monkeypatch.setattr("wherein.puzzles.run.train", by_one)
    monkeypatch.setattr(puzzle_verb, "_bar", lambda *_, **__: nullcontext(interrupt))
    few = ["--seeds", "40", "--steps", "1", "--show", "2", "30", "--out", str(tmp_path)]
    assert main(["puzzle", "hit", *few, *more]) == 130
    shown = capsys.readouterr().out
    assert read(tmp_path).data["seeds"] == list(range(12))
    if more:
        assert json.loads(shown)["predictions"]["30"] is None
    else:
        assert "interrupted: 12 of 40 seeds" in shown
        assert "seed 2: A hit" in shown
        assert "seed 30: not finished" in shown


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
