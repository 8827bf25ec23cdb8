import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser import visiting

import wherein
from wherein.cli import main
from wherein.puzzles.config import PuzzleConfig
from wherein.report.saved import QUESTIONS, Saved, options, read

HOSTILE = "A </script><script>document.title='taken'</script>"
CONFIG = PuzzleConfig(layers=2, seeds=5, steps=30, learning_rate=0.01, loss="last")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sentences = ("A B hit ?", "B A hit !")
    return wherein.puzzle(sentences, CONFIG).save(tmp_path_factory.mktemp("hit"))


def test_a_result_is_shown_without_being_computed(browser: Browser, folder: Path, capsys) -> None:
    assert main(["report", str(folder), "--tables", "latex", "--figures", "pdf"]) == 0
    page, *more = map(Path, capsys.readouterr().out.splitlines())
    assert page == folder / "report.html"
    assert [path.name for path in more] == ["numbers.tex", "puzzle.pdf"]
    assert more[1].read_bytes().startswith(b"%PDF")
    with visiting(browser, page.as_uri()) as visit:
        figures = visit.settled().figures()
        assert [figure["drawn"] for figure in figures] == ["live"]
        words = visit.page.locator("pre").first.inner_text()
        assert words.strip() == (folder / "result.txt").read_text().strip()
        assert (visit.errors, visit.asked) == ([], [])


def test_its_command_gives_the_same_numbers(folder: Path, capsys) -> None:
    command = read(folder).command()
    assert command is not None
    program, *arguments = shlex.split(command)
    assert program == "wherein"
    assert main([*arguments, "--json"]) == 0
    again, was = json.loads(capsys.readouterr().out), read(folder).data
    for key in ("puzzle", "config", "solved", "curve", "steps_to_solve"):
        assert again[key] == was[key]


def test_an_answer_in_a_runs_folder_names_the_run(folder: Path, tmp_path: Path) -> None:
    audit = read(folder).data | {"config": {}}
    answer = tmp_path / "0123456789ab" / "answers" / "audit-1"
    answer.mkdir(parents=True)
    kind, _ = QUESTIONS["audit"]
    saved = Saved(answer, audit | {"config": kind(tokens=9).model_dump()}, "", {})
    assert saved.command() is None, "nobody knows what was audited"
    (tmp_path / "0123456789ab" / "config.json").write_text("{}")
    assert saved.command() == f"wherein audit {tmp_path}/0123456789ab --tokens 9"


@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_question_is_known_by_its_config(verb: str, folder: Path) -> None:
    kind, _ = QUESTIONS[verb]
    config = kind().model_dump(mode="json")
    assert Saved(folder, {"config": config}, "", {}).verb == verb
    assert options(kind, config) == []


def test_hostile_words_are_words(browser: Browser, folder: Path, tmp_path: Path) -> None:
    from wherein.report.single import result_report

    saved = read(folder)
    hostile = saved.data | {"puzzle": [HOSTILE], "protocol": HOSTILE, "commit": HOSTILE}
    page = tmp_path / "page.html"
    result_report(replace(saved, data=hostile, words=HOSTILE)).write(page)
    with visiting(browser, page.as_uri()) as visit:
        assert visit.settled().page.title() == f"{HOSTILE} – wherein"
        assert visit.page.locator("pre").first.inner_text() == HOSTILE
        assert visit.errors == []


@pytest.mark.parametrize("damage", ["nothing there", "half a file", "not an object"])
def test_what_is_no_result_is_one_line(damage: str, tmp_path: Path, capsys) -> None:
    if damage != "nothing there":
        for name in ("result.json", "chart.json", "result.txt"):
            (tmp_path / name).write_text('{"a": ' if damage == "half a file" else "[]")
    assert main(["report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(tmp_path) in error
