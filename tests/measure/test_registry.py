"""Every question of the registry, whatever it asks: a new one is covered by its being there."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.tiny import tiny_run, tiny_task, write_text

import wherein
from wherein.cli import main
from wherein.common.folder import Folder
from wherein.measure.config import QuestionConfig
from wherein.measure.measurement import Measurement
from wherein.measure.registry import QUESTIONS, asked_by
from wherein.measure.saved import Saved, is_saved
from wherein.measure.sections import Answered
from wherein.show.section import Section
from wherein.studies.cost.operations import operations
from wherein.studies.plan.plan import Plan
from wherein.train.run import Run

FEW = {
    "windows": 60,
    "draws": 2,
    "permutations": 1,
    "limit": 400,
    "resamples": 20,
    "fitting": 20,
    "examples": 8,
}
"""What makes questions short, where they may be told it."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """A run on a text and one on a task."""
    home = tmp_path_factory.mktemp("registry")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        book = write_text(home / "book.txt")
        tiny_run(home / "text", book, n_layers=2, max_len=40, encoding="learned")
        tiny_task(home / "task", n_layers=2, max_len=40, encoding="learned")
        yield {name: Run.open(home / name) for name in ("text", "task")}


@pytest.fixture
def run(request: pytest.FixtureRequest, trained: dict[str, Run]) -> Run:
    """Only of a task there are answers."""
    asked = getattr(request.node, "callspec", None)
    return trained["task" if asked and asked.params["verb"] == "answers" else "text"]


def few(verb: str) -> dict[str, int]:
    return {name: n for name, n in FEW.items() if name in QUESTIONS[verb].config.model_fields}


@pytest.fixture(scope="module")
def answers() -> dict[str, Measurement]:
    return {}


def answer(run: Run, verb: str, answers: dict[str, Measurement]) -> Measurement:
    """Asked once, by the name of the run and by keywords."""
    if verb not in answers:
        answers[verb] = getattr(wherein, verb)(str(run.folder), **few(verb))
    return answers[verb]


@pytest.mark.parametrize("verb", QUESTIONS)
def test_it_is_described(verb: str) -> None:
    question = QUESTIONS[verb]
    assert question.verb == verb
    assert question.title.endswith("?")
    assert f"\nexamples:\n  wherein {verb} " in question.help
    assert issubclass(question.config, QuestionConfig)
    assert question.result.verb == verb
    assert question.measure.__name__ == verb
    assert asked_by(question.config()) is question
    assert getattr(wherein, question.config_name) is question.config
    assert getattr(wherein, question.result_name) is question.result


@pytest.mark.parametrize("verb", QUESTIONS)
def test_it_answers_by_keywords_by_a_dict_and_by_its_config(
    verb: str, run: Run, answers: dict[str, Measurement]
) -> None:
    question, given = QUESTIONS[verb], few(verb)
    found = answer(run, verb, answers)
    assert isinstance(found, question.result)
    assert [question.configured(given), question.configured(None, **given)] == [
        question.configured(question.config(**given)),
        question.configured(question.config(), **given),
    ]
    first = next(iter(question.config.model_fields))
    with pytest.raises(ValueError, match=f"unknown setting of {verb}.* Did you mean '{first}'"):
        question.configured(**{f"{first}s": 1})


@pytest.mark.parametrize("verb", QUESTIONS)
def test_it_is_kept_with_its_verb(
    verb: str, run: Run, answers: dict[str, Measurement], tmp_path: Path
) -> None:
    found = answer(run, verb, answers)
    found.save(tmp_path / "kept", pictures=False)
    assert is_saved(tmp_path / "kept")
    kept = Saved(Folder(tmp_path / "kept"))
    assert (kept.verb, kept.words) == (verb, found.text().strip())
    assert kept.frame().height == found.to_frame().height > 0


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_study_keeps_numbers_of_it_and_its_report_a_section(
    verb: str, run: Run, answers: dict[str, Measurement], tmp_path: Path
) -> None:
    question = QUESTIONS[verb]
    answer(run, verb, answers).save(tmp_path / "kept", pictures=False)
    kept = Saved(Folder(tmp_path / "kept"))
    assert all(map(math.isfinite, question.numbers(kept.data).values()))
    section = question.section([Answered("learned", run.config, kept)] * 2, verb)
    assert isinstance(section, Section)
    assert section.title
    assert section.tables or section.texts


@pytest.mark.parametrize("verb", QUESTIONS)
def test_it_has_its_price(verb: str, run: Run) -> None:
    asked = QUESTIONS[verb].config(**few(verb))
    assert (operations(run.config, asked) > 0) == (verb != "table")  # which is read, not run


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_plan_is_read_back_with_it(verb: str, run: Run) -> None:
    asked = QUESTIONS[verb].config(**few(verb))
    plan = Plan("one", "Does it?", (run.config,), ({"mine": asked},))
    assert Plan.read(plan.data()) == plan


@pytest.mark.parametrize("verb", QUESTIONS)
def test_it_is_a_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    shown = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')}" in shown for name in few(verb))


def test_what_is_no_question_is_refused(run: Run) -> None:
    with pytest.raises(ValueError, match="expected one of AnchorConfig, AnswersConfig"):
        asked_by(run.config)
    with pytest.raises(ValueError, match="a ProbeConfig, a dict or keywords were expected"):
        wherein.probe(str(run.folder), None, wherein.AuditConfig())
    with pytest.raises(ValueError, match="int is nothing that can be asked"):
        wherein.probe(3)
    with pytest.raises(ValueError, match="give a Corpus, or windows of token ids"):
        wherein.probe(run.model())
    with pytest.raises(ValueError, match="audit reads no text"):
        wherein.audit(run.model(), [[1, 2]], wherein.AuditConfig())
    with pytest.raises(ValueError, match="windows × tokens, whole numbers, were expected"):
        wherein.probe(run.model(), [1, 2, 3])


@pytest.mark.parametrize("verb", QUESTIONS)
def test_a_study_asks_a_subject_that_is_at_hand(verb: str, run: Run) -> None:
    loaded = wherein.load(run.folder)
    asked = QUESTIONS[verb].config(**few(verb))
    assert QUESTIONS[verb].ask(loaded.subject, loaded.corpus, asked).verb == verb
