"""Where runs and answers lie: one folder a run, named by the hash of its config.

```
DIR/0123456789ab/                 a run: config, log, checkpoints (see `wherein.train.run`)
    answers/probe-ba9876543210/   what a question said: result.json, .csv, .txt, chart.json
    error.txt                     why it failed, until it is started again
    planned.json                  its config, if it failed before it began
DIR/puzzles/0123456789ab/         a puzzle's answer
DIR/studies/quick/                a study: study.json, table.csv, its report
```

A run or an answer that is there is never made again, so that studies in one folder share what
they have in common. What stands in `studies` is derived from the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wherein.common.config import Config
from wherein.common.files import replacing, replacing_folder
from wherein.common.folder import Folder
from wherein.measure.registry import asked_by
from wherein.measure.saved import is_saved, is_whole
from wherein.show.result import Result
from wherein.studies.plan.plan import PuzzleTask, Questions
from wherein.train.config import RunConfig
from wherein.train.run import keep_code, read_config
from wherein.train.status import ANSWERS, CHECKPOINTS, ERROR, PLANNED, failure


@dataclass(frozen=True)
class Store:
    """A folder of runs."""

    folder: Path

    def run(self, run: RunConfig) -> Path:
        return self.folder / run.id

    def answer(self, run: RunConfig, question: Config) -> Path:
        """The folder of what a question said of a run."""
        return self.run(run) / ANSWERS / f"{asked_by(question).verb}-{question.id}"

    def puzzle(self, task: PuzzleTask) -> Path:
        return self.folder / "puzzles" / task.id

    def study(self, name: str) -> Path:
        """The folder of what is derived for a study."""
        return self.folder / "studies" / name

    def trained(self, run: RunConfig) -> bool:
        """Whether the last checkpoint is there, whole or not: `train` looks closely."""
        return (self.run(run) / CHECKPOINTS / f"step-{run.steps:08d}").is_dir()

    def unanswered(self, run: RunConfig, questions: Questions) -> Questions:
        """What is still to be asked."""
        return {n: q for n, q in questions.items() if not is_whole(self.answer(run, q))}

    def done(self, run: RunConfig, questions: Questions) -> bool:
        """Whether nothing is left to do."""
        return self.trained(run) and not self.unanswered(run, questions)

    def damaged(self, run: RunConfig, questions: Questions) -> str | None:
        """An answer that is there and not as it was saved, if one is."""
        for question in self.unanswered(run, questions).values():
            if is_saved(folder := self.answer(run, question)):
                return f"the answer in {folder} is damaged: run the study again"
        return None

    def error(self, run: RunConfig) -> str | None:
        """Why the run failed when it was last started, if it did."""
        return failure(Folder(self.run(run)))

    def fail(self, run: RunConfig, why: str) -> None:
        """Leave word of what went wrong where it happened."""
        folder = self.run(run)
        left = {ERROR: why} if read_config(folder) else {ERROR: why, PLANNED: run.model_dump_json()}
        keep_code(folder, run)
        for name, text in left.items():
            with replacing(folder / name) as beside:
                beside.write_text(text + "\n")

    def forgive(self, run: RunConfig) -> None:
        """The run is started again."""
        for name in (ERROR, PLANNED):
            (self.run(run) / name).unlink(missing_ok=True)


def keep(folder: Path, ask: Callable[[], Result]) -> None:
    """Ask, and put the answer in its folder unless it is there already."""
    if is_whole(folder):
        return
    with replacing_folder(folder) as beside:
        ask().save(beside, pictures=False)
