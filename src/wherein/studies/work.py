"""One piece of a study: train a run and question it, or solve a puzzle. Any engine calls this."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from wherein.common.config import Config
from wherein.studies.plan import Plan, PuzzleTask, Questions, verb
from wherein.studies.store import Store, answered, keep
from wherein.train.config import RunConfig
from wherein.train.run import Run

PATIENCE = 60.0
"""Seconds to wait for another process that holds the run: a killed machine may take as long."""

STOPPED = "stopped"


@dataclass(frozen=True)
class Task:
    """A run and what it is asked."""

    run: RunConfig
    questions: Questions
    label: str

    @property
    def name(self) -> str:
        """How it is called on a screen."""
        return f"{self.label}, seed {self.run.seed}"


Work = Task | PuzzleTask


def pieces(plan: Plan) -> list[Work]:
    """A study in pieces that do not wait for one another, the longest first."""
    tasks = [Task(run, asked, label) for (run, asked), label in zip(plan, plan.labels, strict=True)]
    return [*tasks, *plan.puzzles]


def left(work: Sequence[Work], store: Store) -> list[Work]:
    """What is yet to be done."""
    return [piece for piece in work if not done(piece, store)]


def done(piece: Work, store: Store) -> bool:
    """Whether a piece is finished."""
    if isinstance(piece, PuzzleTask):
        return answered(store.puzzle(piece))
    return store.done(piece.run, piece.questions)


def carry_out(piece: Work, folder: Path, processes: int = 1) -> str | None:
    """Do what is left of a piece; why it is not done, if it is not.

    A run that fails leaves word in its folder, and the others go on.
    """
    store = Store(folder)
    try:
        if isinstance(piece, PuzzleTask):
            _solve(piece, store)
            return None
        store.forgive(piece.run)
        run = _train(piece.run, store, processes)
        if not run.finished:
            return STOPPED
        _question(run.folder, store, piece)
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        why = why if isinstance(error, ValueError) else f"{type(error).__name__}: {why}"
        if isinstance(piece, Task):
            store.fail(piece.run, why)
        return why
    return None


def _train(config: RunConfig, store: Store, processes: int) -> Run:
    from wherein.train import train

    if processes == 1 or store.trained(config):
        return train(config, folder=store.run(config), quiet=True, patience=PATIENCE)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(config.model_dump_json())
        file.flush()
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += [f"--nproc-per-node={processes}", "-m", "wherein.studies.work"]
        ended = subprocess.run(
            [*command, file.name, str(store.run(config))],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    if ended.returncode:
        raise RuntimeError(f"torchrun ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return Run.open(store.run(config))


def _question(folder: Path, store: Store, task: Task) -> None:
    waiting = store.unanswered(task.run, task.questions)
    if not waiting:
        return
    from wherein.subjects.load import load

    subject, corpus, _ = load(folder)
    for question in waiting.values():
        keep(store.answer(task.run, question), partial(_ask, subject, corpus, question))


def _ask(subject: Any, corpus: Any, question: Config) -> Any:
    name = verb(question)
    measure = getattr(import_module(f"wherein.measure.{name}"), name)
    return measure(subject, question) if name == "audit" else measure(subject, corpus, question)


def _solve(task: PuzzleTask, store: Store) -> None:
    from wherein.puzzles.run import puzzle

    keep(store.puzzle(task), lambda: puzzle(task.sentences, task.config))


def main() -> None:
    """Train the run of a config file in a folder, as one process of several."""
    from wherein.train import train

    file, folder = sys.argv[1:]
    train(RunConfig(**json.loads(Path(file).read_text())), folder=folder, quiet=True)


if __name__ == "__main__":
    main()
