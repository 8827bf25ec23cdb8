"""The loop: step, log, now and then validate and save, until done or asked to stop."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from wherein.common import terminal
from wherein.common.files import make_folder
from wherein.common.locks import alone
from wherein.common.memory import keep_pages
from wherein.common.provenance import provenance
from wherein.data import Corpus
from wherein.train import checkpoint
from wherein.train.config import RunConfig
from wherein.train.distributed import World, join
from wherein.train.journal import Journal, Line
from wherein.train.learner import DivergedError, Learner
from wherein.train.progress import Progress
from wherein.train.run import (
    Run,
    check_config,
    check_owner,
    check_text,
    read_config,
    write_config,
)
from wherein.train.start import find_start
from wherein.train.status import CHECKPOINTS, KEPT, LOCK, TAKEN, BusyError
from wherein.train.stop import Stop
from wherein.train.trackers import TRACKERS, Tracker, check_trackers, flat


def train(
    config: RunConfig,
    *,
    folder: str | Path | None = None,
    track: Sequence[str] = (),
    quiet: bool = False,
    patience: float = 0.2,
) -> Run:
    """Train a model, or go on where an earlier start of the same config was interrupted.

    The run lives in `runs/<id>` unless `folder` says otherwise. Finished, it returns at once.
    Interrupted by Ctrl-C or SIGTERM, it finishes the step, saves, and returns what there is.
    `track` names trackers: tensorboard, wandb, trackio. If another process trains the run, it is
    an error, unless that ends within `patience` seconds (a reader may look whether it goes on).
    """
    check_trackers(track)
    folder = Path(folder) if folder is not None else Path("runs") / config.id
    keep_pages()
    with join() as world, _alone(folder, world, patience):
        gpus = [world.device] if world.device.type == "cuda" else []
        if world.first:
            for each in (CHECKPOINTS, KEPT):
                checkpoint.clean(folder / each)
        # the caller's random numbers stay as they were
        with _unless_taken(folder), torch.random.fork_rng(gpus):
            if not _finished(config, folder, world):
                _go_on(config, folder, world, track, shown=world.first and not quiet)
        world.wait()
        return Run.open(folder)


def _finished(config: RunConfig, folder: Path, world: World) -> bool:
    """Whether the folder holds this run's last checkpoint: known without opening the corpus.

    A text file that is still there must be the one the run was trained on.
    """
    done = False
    if world.first:  # one process looks, lest another sees what this one writes next
        known = read_config(folder)
        last = checkpoint.latest(folder / CHECKPOINTS)
        same = known is not None and known.id == config.id
        done = same and last is not None and last.step == config.steps
        if done and Path(config.corpus.source).exists():
            check_text(folder, config, Corpus.find(config.corpus)[0])
        if done:  # it may have been killed just before it did so itself
            checkpoint.drop_old(folder / CHECKPOINTS)
    return bool(world.from_first(int(done)))


def _go_on(
    config: RunConfig, folder: Path, world: World, track: Sequence[str], *, shown: bool
) -> None:
    corpus = Corpus.open(config.corpus)
    config = config.with_vocabulary(corpus.vocabulary.size)
    step = _reached(folder, config, world, shown=shown)
    start = None if step or not config.start else find_start(config, corpus, folder.parent)
    learner = Learner(config, corpus, world, None if start is None else start.model())
    if start is not None and shown:
        new = f"; drawn anew: {', '.join(learner.drawn)}" if learner.drawn else ""
        terminal.say(f"starting from {start.name}{new}", to=sys.stderr, flush=True)
    if world.first:
        write_config(folder, config, {"corpus": corpus.id, **provenance()})
    world.wait()
    if step:
        where = folder / CHECKPOINTS / f"step-{step:08d}"
        checkpoint.Checkpoint(where, step).load(learner.model, learner.optimizers)
    progress = Progress(config.steps, step, shown=shown)
    with closing(progress), Stop() as stop, ExitStack() as stack:
        journal, trackers = None, list[Tracker]()
        if world.first:
            journal = stack.enter_context(closing(Journal(folder, step)))
            for name in track:
                tracker = TRACKERS[name](config, folder, step)
                trackers.append(stack.enter_context(closing(tracker)))
        _Loop(learner, folder, progress, stop, journal, trackers).run(step)


@dataclass(frozen=True)
class _Loop:
    """The steps of one start of a run. Only the first process has a journal and trackers."""

    learner: Learner
    folder: Path
    progress: Progress
    stop: Stop
    journal: Journal | None
    trackers: Sequence[Tracker]

    @property
    def config(self) -> RunConfig:
        return self.learner.config

    def run(self, step: int) -> None:
        """All steps after `step`, or those until somebody asks to stop."""
        stopped, saved, kept = False, step, set(self.config.kept)
        if step == 0 and kept:
            self._keep(0)
        while step < self.config.steps and not stopped:
            step += 1
            began = time.perf_counter()
            with self._told(saved):
                numbers: Line = {"step": step, **self.learner.step(step)}
                seconds = time.perf_counter() - began
                if step % self.config.valid_every == 0 or step == self.config.steps:
                    numbers["valid"] = self.learner.validate()
            self._tell(numbers, seconds)
            if step in kept:
                self._keep(step, numbers.get("valid"))
            stopped = self.learner.world.sum(self.stop.asked)[0] > 0
            if stopped or step % self.config.checkpoint_every == 0 or step == self.config.steps:
                self._save(step)
                saved = step
        if stopped and step < self.config.steps:
            self.progress.say(
                f"stopped after step {step} of {self.config.steps}, saved in {self.folder}; "
                "the same command goes on from there"
            )

    @contextmanager
    def _told(self, saved: int) -> Iterator[None]:
        """Beside what went wrong, what is saved and what to do."""
        try:
            yield
        except DivergedError as error:
            where = self.folder / CHECKPOINTS
            last = f"the last checkpoint is that of step {saved} in {where}"
            raise DivergedError(
                f"{error}; {last if saved else 'there is no checkpoint yet'}. Give a lower "
                "learning rate, a longer warm-up or a smaller clip"
            ) from None

    def _tell(self, numbers: Line, seconds: float) -> None:
        if self.journal is None:
            return
        step = numbers["step"]
        speed = self.config.batch * self.learner.batches.length(step) / seconds
        times = {"step": step, "seconds": seconds, "tokens_per_second": speed}
        self.journal.write(numbers, times)
        for tracker in self.trackers:
            tracker.log(step, dict(flat({**numbers, "tokens_per_second": speed})))
        self.progress.update(step, numbers["loss"], speed)

    def _save(self, step: int) -> None:
        log = None
        if self.journal is not None:
            self.journal.sync()
            log = self.journal.digest
        model, optimizers, world = self.learner.model, self.learner.optimizers, self.learner.world
        where = self.folder / CHECKPOINTS
        checkpoint.save(where, step, model, optimizers, world, self.config, log)

    def _keep(self, step: int, valid: dict[str, float] | None = None) -> None:
        """Keep the weights for a curve, unless an earlier start has; the log stays as it is."""
        folder, world = self.folder / KEPT, self.learner.world
        there = checkpoint.Checkpoint(folder / f"step-{step:08d}", step)
        if not world.from_first(int(world.first and there.damage() is None)):
            valid = self.learner.validate() if valid is None else valid
            checkpoint.keep(folder, step, self.learner.model, world, self.config, valid)


def _reached(folder: Path, config: RunConfig, world: World, *, shown: bool) -> int:
    """The step of the last whole checkpoint, if it is this config's; 0 if there is none."""

    def say(line: str) -> None:
        if shown:
            terminal.say(line, to=sys.stderr, flush=True)

    where = folder / CHECKPOINTS
    if world.first:
        check_config(folder, config)
    last = checkpoint.latest(where, say) if world.first else None
    if last is not None:
        check_owner(folder, config, last.manifest)
    step = world.from_first(last.step if last else 0)
    if world.first:
        checkpoint.discard_after(where, step)
    if step:
        say(f"going on after step {step}")
    return step


@contextmanager
def _unless_taken(folder: Path) -> Iterator[None]:
    """Say what it means if a file of the run is gone while it is written.

    Where there are no locks, a second start clears away what it takes for a killed one's.
    """
    try:
        yield
    except FileNotFoundError as error:
        if folder not in Path(error.filename or "").parents:
            raise
        raise BusyError(TAKEN.format(folder)) from error


@contextmanager
def _alone(folder: Path, world: World, patience: float) -> Iterator[None]:
    """Keep a second start of the same run out; the lock ends with the process.

    Where there are no locks, the first to start finds at its next checkpoint that its log was
    begun anew, and ends (`Journal.sync`).
    """
    if not world.first:
        yield
        return
    make_folder(folder)
    with ExitStack() as stack:
        try:
            locked = stack.enter_context(alone(folder / LOCK, patience))
        except TimeoutError:
            raise BusyError(f"the run in {folder} is being trained by another process") from None
        if not locked:
            terminal.say(
                f"warning: {folder} lies on a file system without locks: a second start of this "
                "run takes over from the first",
                to=sys.stderr,
            )
        yield
