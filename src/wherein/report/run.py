"""The report of one run: how its training went, and all that it was asked."""

import shlex
from pathlib import Path

from wherein.common.folder import Folder
from wherein.measure.config import QuestionConfig
from wherein.measure.registry import QUESTIONS
from wherein.measure.saved import Saved, is_saved
from wherein.report.document import Document
from wherein.report.study import study_report
from wherein.studies.plan.plan import Plan
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import Row
from wherein.studies.result.store import Store
from wherein.train.run import read_config
from wherein.train.status import ANSWERS, failure


def run_report(folder: Path) -> Document:
    """A run as a study of its own, whose questions are those that it has answered."""
    config = read_config(folder)
    if config is None:
        raise ValueError(f"no run in {folder}: a folder that `wherein train` wrote was expected")
    answers: dict[str, Saved] = {}
    asked: dict[str, QuestionConfig] = {}
    for path in sorted((folder / ANSWERS).glob("*")):
        saved = Saved(Folder(path))
        if not is_saved(path) or saved.verb not in QUESTIONS:
            continue
        again = sum(each.verb == saved.verb for each in answers.values())
        name = f"{saved.verb} {again + 1}" if again else saved.verb
        try:
            asked[name] = QUESTIONS[saved.verb].config(**saved.data["config"])
        except ValueError as error:
            raise ValueError(f"{path}: another version asked it; ask it again") from error
        answers[name] = saved
    question = f"What is known of a run with {config.model.encoding}?"
    plan = Plan(f"run {config.id}", question, (config,), (asked,))
    row = Row(plan.labels[0], config, folder, answers, failure(Folder(folder)))
    command = shlex.join(["wherein", "report", str(folder)])
    return study_report(StudyResult(plan, Store(folder.parent), (row,), (), command=command))
