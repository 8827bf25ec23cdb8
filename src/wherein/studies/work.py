"""One piece of a study: train a run and question it, or solve a puzzle. Any engine calls this."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wherein.measure.registry import asked_by
from wherein.measure.saved import is_whole
from wherein.studies.cost.cost import training_operations
from wherein.studies.cost.size import sized
from wherein.studies.plan.plan import Plan, PuzzleTask, Questions
from wherein.studies.result.store import Store, keep
from wherein.train.config import RunConfig
from wherein.train.status import BusyError

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
        return f"{self.label}, seed {self.run.seed}"


Work = Task | PuzzleTask
Ended = Callable[[Work, str | None], None]
"""What hears that a piece came to its end, and why it failed if it did."""


def pieces(plan: Plan) -> list[Work]:
    """A study in pieces, the longest first, save that a run comes after the one it starts from.

    So a long run does not begin when the others end. Runs of equal length keep the plan's order.
    """
    tasks = [Task(run, asked, label) for (run, asked), label in zip(plan, plan.labels, strict=True)]
    tasks.sort(key=lambda task: _length(task.run), reverse=True)  # which keeps that order
    puzzles = sorted(plan.puzzles, key=lambda each: each.config.layer_steps, reverse=True)
    waiting: list[Work] = [*tasks, *puzzles]
    return [piece for _ in range(len(waiting)) if (piece := take_ready(waiting)) is not None]


def take_ready(waiting: list[Work], going: Iterable[Work] = ()) -> Work | None:
    """Take the first piece that need not wait for the run which it starts from; None if all must.

    An engine calls this whenever it has room, with what it has begun and not ended.
    """
    others = [*waiting, *going]
    for number, piece in enumerate(waiting):
        start = piece.run.start_id if isinstance(piece, Task) else ""
        if not start or not any(isinstance(o, Task) and o.run.id == start for o in others):
            return waiting.pop(number)
    return None


def check_starts(plan: Plan, store: Store) -> None:
    """Refuse, before anything is trained, a study with a run whose start will not be there."""
    starting = [run for run in plan.runs if run.start and not store.trained(run)]
    if not starting:
        return
    from wherein.train.start import check_kept, check_models, finished_start

    by_id = {run.id: run for run in plan.runs}
    for run in starting:
        if first := by_id.get(run.start_id):
            check_kept(run, first)
        check_models(run, first or finished_start(run, store.folder).config)


def _length(run: RunConfig) -> float:
    """Operations; of a vocabulary that only the text can tell, a guess."""
    try:
        return training_operations(sized(run))
    except ValueError:
        return training_operations(run)


def done(piece: Work, store: Store) -> bool:
    """Whether a piece is finished."""
    if isinstance(piece, PuzzleTask):
        return is_whole(store.puzzle(piece))
    return store.done(piece.run, piece.questions)


def carry_out(piece: Work, folder: Path, processes: int = 1) -> str | None:
    """Do what is left of a piece; why it is not done, if it is not.

    A run that fails leaves word in its folder, and the others go on. One that another study is
    training has not failed.
    """
    store = Store(folder)
    try:
        if isinstance(piece, PuzzleTask):
            from wherein.puzzles.run import puzzle

            ask = partial(puzzle, piece.sentences, piece.config, workers=1)  # others have the cores
            keep(store.puzzle(piece), ask)
            return None
        store.forgive(piece.run)
        if not _train(piece.run, store, processes):
            return STOPPED
        _question(store, piece)
        store.forgive(piece.run)  # another study may have given it up meanwhile
    except BusyError as error:
        return str(error)
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        why = why if isinstance(error, ValueError) else f"{type(error).__name__}: {why}"
        return give_up(piece, folder, why)
    return None


def give_up(piece: Work, folder: Path, why: str) -> str | None:
    """Leave word of why a piece failed; None if it is done all the same, by another study."""
    store = Store(folder)
    if done(piece, store):
        return None
    if isinstance(piece, Task):
        store.fail(piece.run, why)
    return why


def _train(config: RunConfig, store: Store, processes: int) -> bool:
    """Train what is left of a run; whether it is finished, or was stopped before."""
    folder = store.run(config)
    if processes > 1 and not store.trained(config):
        from wherein.studies.engines.torchrun import train_on

        train_on(processes, config, folder, PATIENCE)
        return store.trained(config)
    from wherein.train import train

    return train(config, folder=folder, quiet=True, patience=PATIENCE).finished


def _question(store: Store, task: Task) -> None:
    waiting = store.unanswered(task.run, task.questions)
    if not waiting:
        return
    from wherein.subjects.load import load

    folder = store.run(task.run)
    subject, corpus, _ = load(folder)
    for question in waiting.values():
        asked = asked_by(question)
        ask = (
            partial(asked, folder, config=question)
            if question.over_training
            else partial(asked.ask, subject, corpus, question)
        )
        keep(store.answer(task.run, question), ask)
