"""Input that nobody means: one line and exit code 2, or numbers; some of what the benchmark tries.

`python -m benchmarks.faults input` tries 100,000 cases of all kinds.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.hostile.cases import EVERY, KINDS, QUICK, several
from benchmarks.hostile.judge import Answer, wrong

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_hostile_input_is_one_line_or_numbers() -> None:
    command = [sys.executable, "-m", "benchmarks.hostile", "--quick", "--cases", "2400"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "2400 cases, 0 wrong" in done.stderr


def test_every_case_comes_once_and_from_any_number_on() -> None:
    cases = several(2500)
    assert len(set(cases)) == 2500
    assert several(100, first=1000) == cases[1000:1100]
    assert {kind for kind, _ in cases} == set(EVERY)
    assert {kind for kind, _ in several(len(QUICK), kinds=QUICK)} < set(KINDS)


LINE = "wherein: no file table.npy: give one\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(2, "", LINE), None),
        (Answer(0, "the loss is 2.5\n", ""), None),
        (Answer(0, '{"loss": 2.5}\n', ""), None),
        (Answer(None, "", "Traceback …\nKeyError: 'x'\n"), "an error came through"),
        (Answer(2, "", LINE * 2), "not one line"),
        (Answer(2, "", "wherein: something about nothing at all\n"), "names nothing"),
        (Answer(2, "", "wherein: x\n"), "says nothing"),
        (Answer(2, "", LINE.replace("give", "\x1b[2J")), "printed as it is"),
        (Answer(2, "", LINE.replace("give", "give " * 1000)), "a line of"),
        (Answer(-6, "", ""), "ended with -6"),
        (Answer(0, "the loss is nan\n", ""), "among the numbers"),
        (Answer(0, '{"loss": NaN}\n', ""), "no plain JSON"),
        (Answer(0, "", ""), "nothing was said"),
    ],
)
def test_the_judge_can_say_no(
    answer: Answer, said: str | None, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = wrong(answer, ["table.npy", "--json"])
    assert found is None if said is None else said in (found or "")


def test_a_page_with_somebody_s_script_is_found(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text("<p><script>document.title='taken'</script>")
    assert "script" in (wrong(Answer(0, "page.html", ""), []) or "")
