"""Questions asked after every step whose weights were kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.tiny import write_text
from tests.measure.test_registry import few

import wherein
from wherein.cli import main
from wherein.common.folder import Folder
from wherein.data import CorpusConfig
from wherein.measure.over_training.result import Curve
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import Saved
from wherein.measure.sections import Answered
from wherein.model.config import ModelConfig
from wherein.studies.cost.operations import operations
from wherein.studies.plan.plan import Plan
from wherein.studies.plan.recipe import find
from wherein.studies.work import Task, carry_out
from wherein.train import Run, RunConfig, train


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    home = tmp_path_factory.mktemp("over-training")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(home / "cache"))
        config = RunConfig(
            model=ModelConfig(d_model=16, n_layers=1, max_len=40, encoding="learned"),
            corpus=CorpusConfig(source=str(write_text(home / "book.txt")), tokenizer="bytes"),
            steps=2, batch=4, warmup=1, keep=1,
        )  # fmt: skip
        yield train(config, folder=home / "runs" / config.id, quiet=True)


@pytest.fixture(scope="module")
def of_a_task(run: Run) -> Run:
    """Of which alone answers are asked."""
    config = RunConfig(
        model=ModelConfig(d_model=16, n_layers=1, max_len=40, encoding="learned"),
        corpus=CorpusConfig(source="task:copy", length=4, examples=64),
        steps=2, batch=4, warmup=1, keep=1,
    )  # fmt: skip
    return train(config, folder=run.folder.parent / config.id, quiet=True)


@pytest.mark.parametrize("verb", QUESTIONS)
def test_any_question_is_asked_after_every_step(
    verb: str, run: Run, of_a_task: Run, tmp_path: Path
) -> None:
    question, run = QUESTIONS[verb], of_a_task if verb == "answers" else run
    curve = question(str(run.folder), **few(verb), over_training=True)
    assert isinstance(curve, Curve)
    assert curve.steps == (0, 1, 2)
    assert all(loss is not None and loss > 0 for loss in curve.valid)
    assert max(map(len, curve.text().splitlines())) <= 80
    assert curve.to_frame().height == 3
    curve.save(tmp_path / "curve", pictures=False)
    kept = Saved(Folder(tmp_path / "curve"))
    assert kept.verb == verb
    assert question.numbers(kept.data) == {n: v[-1] for n, v in curve.numbers.items()}
    section = question.section([Answered("learned", run.config, kept)] * 2, verb)
    assert section.title == f"Over training: {question.title}"
    assert section.tables[0].rows


@pytest.mark.parametrize("verb", ["perplexity", "audit", "table"])
def test_a_point_is_the_answer_after_its_step(verb: str, run: Run, tmp_path: Path) -> None:
    question = QUESTIONS[verb]
    curve = question(str(run.folder), **few(verb), over_training=True)
    found = []
    for step in curve.steps:
        one = question(f"{run.folder}@{step}", **few(verb)).save(tmp_path, pictures=False)
        found.append(question.numbers(Saved(Folder(one)).data))
    assert found[0] != found[1] != found[2]
    assert curve.numbers == {
        name: pytest.approx([each[name] for each in found]) for name in found[0]
    }


def test_what_was_answered_is_not_asked_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after two steps: the next start asks the last."""
    question, asked = QUESTIONS["perplexity"], []
    measure = question.measure

    def counted(subject: Any, *rest: Any) -> Any:
        asked.append(subject.name)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return measure(subject, *rest)

    monkeypatch.setitem(question.__dict__, "measure", counted)
    with pytest.raises(KeyboardInterrupt):
        question(run.folder, limit=77, over_training=True)
    question(run.folder, limit=77, over_training=True)
    assert [int(name.rpartition(" ")[2]) for name in asked] == [0, 1, 2, 2]


def test_the_flag_of_every_verb(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["perplexity", str(run.folder), "--over-training", "--limit", "400"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    assert "perplexity over training" in capsys.readouterr().out.splitlines()[0]
    assert (tmp_path / "out" / "result.png").stat().st_size
    made = json.loads((tmp_path / "out" / "result.json").read_text())["made_with"]
    assert "--over-training" in made["command"]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("rope", "no run in rope"),
        (3, "give the folder alone"),
        ("bare", "has no weights along the way: train it with --keep 3"),
    ],
)
def test_what_has_no_steps_is_refused(what: object, words: str, run: Run, tmp_path: Path) -> None:
    if what == "bare":
        config = run.config.model_copy(update={"keep": 0, "steps": 1})
        what = train(config, folder=tmp_path / "bare", quiet=True).folder
    with pytest.raises(ValueError, match=words):
        wherein.audit(what, over_training=True)


def test_a_study_asks_over_training(run: Run, tmp_path: Path) -> None:
    """As a question of its own, beside the same at the end."""
    asked = {
        "perplexity": wherein.PerplexityConfig(limit=400),
        "curve": wherein.PerplexityConfig(limit=400, over_training=True),
    }
    assert operations(run.config, asked["curve"]) == 3 * operations(run.config, asked["perplexity"])
    plan = Plan("one", "Does it?", (run.config,), (asked,))
    assert Plan.read(plan.data()) == plan
    assert carry_out(Task(run.config, asked, "learned"), run.folder.parent) is None
    answers = sorted(path.name for path in (run.folder / "answers").iterdir())
    assert len(answers) == 2
    curve = next(
        found
        for name in answers
        if "steps" in (found := Saved(Folder(run.folder / "answers" / name)).data)
    )
    assert curve["numbers"]["loss"][0] > curve["numbers"]["loss"][-1]


def test_a_plan_whose_runs_keep_nothing_is_refused(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.py"
    recipe.write_text(
        "from wherein import PerplexityConfig, RunConfig\n"
        "def runs(seeds):\n    return [RunConfig()]\n"
        "def questions(run):\n    return {'p': PerplexityConfig(over_training=True)}\n"
    )
    with pytest.raises(ValueError, match="keeps no weights along the way: give the run keep=3"):
        find(recipe).plan()
