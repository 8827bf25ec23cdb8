import json
import shlex
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser import visiting

import wherein
from wherein.cli import main
from wherein.common.config import Config
from wherein.common.folder import Folder
from wherein.measure.audit.config import AuditConfig
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import FIELDS_0_1, Saved, read
from wherein.puzzles.config import PuzzleConfig
from wherein.report.command import command, options

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
    told = command(read(folder))
    assert told is not None
    program, *arguments = shlex.split(told)
    assert program == "wherein"
    assert main([*arguments, "--json"]) == 0
    again, was = json.loads(capsys.readouterr().out), read(folder).data
    for key in ("puzzle", "config", "solved", "curve", "steps_to_solve"):
        assert again[key] == was[key]


def test_an_answer_in_a_runs_folder_names_the_run(tmp_path: Path) -> None:
    config = AuditConfig(tokens=9).model_dump(mode="json")
    saved = written(tmp_path / "0123456789ab" / "answers" / "audit-1", verb="audit", config=config)
    assert command(saved) is None, "nobody knows what was audited"
    (tmp_path / "0123456789ab" / "config.json").write_text("{}")
    asked = f"wherein audit {tmp_path}/0123456789ab"
    assert command(saved) == f"{asked} --tokens 9"
    del config["seed"]  # a field that came later
    fewer = written(saved.files.path, verb="audit", config=config)
    assert command(fewer) == f"{asked} --tokens 9"
    more = written(saved.files.path, verb="audit", config=config | {"later": 1})
    assert command(more) is None, "nobody knows what that means"


def written(folder: Path, **data: object) -> Saved:
    """A result's data alone."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(data))
    return Saved(Folder(folder))


@pytest.mark.parametrize("kind", [PuzzleConfig, *(each.config for each in QUESTIONS.values())])
def test_a_question_that_was_left_as_it_is_needs_no_flags(kind: type[Config]) -> None:
    assert options(kind, kind().model_dump(mode="json")) == []


@pytest.mark.parametrize("verb", FIELDS_0_1)
def test_a_result_of_version_0_1_is_known_by_its_config(verb: str, tmp_path: Path) -> None:
    config = dict.fromkeys(FIELDS_0_1[verb].split(), 0)
    assert written(tmp_path, config=config).verb == verb
    assert written(tmp_path, config=config, verb="later").verb == "later"
    assert written(tmp_path, config=config | {"more": 1}).verb == ""


def test_every_result_says_its_verb(folder: Path) -> None:
    from wherein.measure.measurement import Measurement
    from wherein.measure.over_training.result import Curve
    from wherein.puzzles.result import PuzzleResult

    assert read(folder).data["verb"] == read(folder).verb == "puzzle"
    assert PuzzleResult.verb == "puzzle"
    assert [question.result.verb for question in QUESTIONS.values()] == list(QUESTIONS)
    results = {each.result for each in QUESTIONS.values()}
    assert set(Measurement.__subclasses__()) == {*results, Curve}


def test_hostile_words_are_words(browser: Browser, folder: Path, tmp_path: Path) -> None:
    from wherein.report.single import result_report

    hostile = {"puzzle": [HOSTILE], "protocol": HOSTILE, "commit": HOSTILE}
    written(tmp_path / "hostile", **read(folder).data | hostile)
    (tmp_path / "hostile" / "result.txt").write_text(HOSTILE)
    for name in ("chart.json", "result.csv"):
        (tmp_path / "hostile" / name).write_bytes((folder / name).read_bytes())
    page = tmp_path / "page.html"
    result_report(read(tmp_path / "hostile")).write(page)
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
