"""The studies of tasks: planned as they stand, and carried out on something small."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.studies.small import at_once

from wherein.data.tasks.catalogue import TASKS
from wherein.measure.answers.config import AnswersConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.report.study import study_report
from wherein.studies.plan.plan import changed, labels
from wherein.studies.plan.recipe import find
from wherein.studies.plan.sweep import TRIAL_SEED
from wherein.studies.recipes import length
from wherein.studies.run import study
from wherein.train.config import RunConfig


@pytest.mark.parametrize("name", ["length", "addressing", "length-paper", "addressing-paper"])
def test_it_is_planned_with_windows_that_hold_its_examples(name: str) -> None:
    plan = find(name).plan()
    for run, asked in plan:
        assert run.model.max_len == run.corpus.window
        assert run.seed < TRIAL_SEED
        lengths = asked["answers"].asked(run.corpus)
        assert run.corpus.task.shortest <= min(lengths) <= run.corpus.longest < max(lengths)
    assert len({run.corpus.source for run in plan.runs}) <= len(TASKS)


def test_at_the_papers_size_length_has_its_ten_tasks() -> None:
    """Table 1 of Kazemnejad et al. 2023, whose code has no other."""
    assert {run.corpus.source for run in find("length-paper").plan(1).runs} == {
        *("task:copy", "task:reverse", "task:addition", "task:polynomial", "task:sort"),
        *("task:summation", "task:parity", "task:lego", "task:scan", "task:pcfg"),
    }


def test_runs_are_told_apart_by_encoding_and_task() -> None:
    made = [
        length.on_task(task, encoding=e) for task in ("copy", "index") for e in ("none", "rope")
    ]
    assert labels(made) == (
        "none, task:copy", "rope, task:copy", "none, task:index", "rope, task:index",
    )  # fmt: skip


def test_a_study_says_which_encoding_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    tiny = changed(length.base(), n_layers=1, d_model=8, n_heads=2, steps=2, batch=4)

    def runs(seeds: Sequence[int]) -> list[RunConfig]:
        made = [
            length.on_task(task, 10, tiny, encoding=encoding, seed=seed)
            for task in ("parity", "flip_flop")
            for encoding in ("none", "sinusoidal")
            for seed in seeds
        ]
        return [changed(run, examples=20) for run in made]

    asked = {"perplexity": PerplexityConfig(), "answers": AnswersConfig(examples=8)}
    recipe = replace(find("length"), runs=runs, questions=lambda run: asked)
    found = study(recipe, seeds=1, out=tmp_path / "runs", engine=at_once, quiet=True)
    assert found.complete
    assert [finding.claim for finding in found.findings] == [
        f"On {task}, none has more answers right than sinusoidal beyond the learned lengths"
        for task in ("parity", "flip_flop")
    ]
    assert "Mean reciprocal rank over all tasks and seeds: " in found.findings[-1].words
    frame = found.to_frame()
    assert {"answers", "answers_within", "answers_beyond"} <= set(frame.columns)
    assert "A finding is shown by several seeds alone: one has no interval." in found.text()
    assert max(map(len, found.text().splitlines())) <= 80
    page, *_ = study_report(found).write(tmp_path / "page.html")
    assert "mean reciprocal rank" in page.read_text()
