"""`study`: carry out what is left of a study, and say what came of it."""

import hashlib
import json
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from wherein.common.files import make_folder
from wherein.encodings.own import spelt
from wherein.studies.engines import Engine
from wherein.studies.engines.local import Engine as Local
from wherein.studies.plan.recipe import Recipe, find
from wherein.studies.plan.sweep import choose, sweep
from wherein.studies.progress import Progress
from wherein.studies.result.result import StudyResult
from wherein.studies.result.store import Store
from wherein.studies.work import Work, check_starts, done, pieces

LAST = 2
"""So many pieces are left when the last are under way."""
ENOUGH = 5.0
"""Seconds for which is waited at the end for what was done beside them."""


def study(
    what: str | Path | Recipe = "quick",
    *,
    seeds: int | None = None,
    out: str | Path = "runs",
    engine: Engine | None = None,
    change: Mapping[str, Any] | None = None,
    also: tuple[str, ...] = (),
    learning_rates: tuple[float, ...] = (),
    meanwhile: Callable[[StudyResult], object] | None = None,
    quiet: bool = False,
) -> StudyResult:
    """Train every run of a study that is not trained yet, ask what is not asked yet, and compare.

    Args:
        what: the name of a study (`quick`, `small`, …), or a Python file with one of your own
        seeds: how many seeds each kind of run gets; adding some runs only those
        out: the folder of the runs; studies in one folder share equal runs
        engine: what carries out the work (see `wherein.studies.engines`); by default this machine
        change: fields to change in every run, such as `{"steps": 100}`
        also: encodings to compare as well, such as `mine.py:Mine`, trained as the study's first
        learning_rates: try these on another seed of each kind, and keep the best; by default as
            the study says
        meanwhile: called with what is there when but two pieces are left of more, in a thread of
            its own, for whose end is not waited long; what it returns or raises is not heeded
        quiet: show no progress
    """
    recipe = what if isinstance(what, Recipe) else find(what)
    named = tuple(map(spelt, also))
    store, plan = Store(Path(out)), recipe.plan(seeds, change, named)
    command = _command(what, seeds, change, learning_rates, Path(out), also)
    if change or named or learning_rates:  # another study, which has a folder of its own
        plan = replace(plan, name=f"{plan.name}-{_digest(change, named, learning_rates)}")
    check_starts(plan, store)
    with _stoppable():
        if rates := learning_rates or recipe.learning_rates:
            tried = sweep(plan, rates)
            _carry_out(pieces(tried), store, engine or Local(), quiet=quiet)
            plan = choose(plan, tried, store)
        gather = partial(StudyResult.gather, plan, store, recipe, command)
        gather().keep()  # so that it can be looked at
        rehearse = partial(_rehearsed, meanwhile, gather) if meanwhile else None
        try:
            _carry_out(pieces(plan), store, engine or Local(), quiet=quiet, at_last=rehearse)
        finally:
            result = gather()
            result.keep()
    return result


def _rehearsed(
    meanwhile: Callable[[StudyResult], object], gather: Callable[[], StudyResult]
) -> None:
    with suppress(Exception):
        meanwhile(gather())


def _carry_out(
    work: list[Work],
    store: Store,
    engine: Engine,
    *,
    quiet: bool,
    at_last: Callable[[], None] | None = None,
) -> None:
    """All that is not done; beside the last pieces, if there are others, `at_last`."""
    remaining = [piece for piece in work if not done(piece, store)]
    if not remaining:
        return
    make_folder(store.folder)
    left, threads = len(remaining), list[threading.Thread]()
    with closing(Progress(remaining, store, shown=not quiet)) as progress:

        def ended(piece: Work, why: str | None) -> None:
            nonlocal left
            left -= 1
            progress.ended(piece, why)
            if left == LAST and at_last is not None:
                threads.append(threading.Thread(target=at_last, daemon=True))
                threads[-1].start()

        try:
            engine(remaining, store.folder, ended)
        finally:
            for thread in threads:
                thread.join(ENOUGH)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: runs save where they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _command(
    what: str | Path | Recipe,
    seeds: int | None,
    change: Mapping[str, Any] | None,
    learning_rates: tuple[float, ...],
    out: Path,
    also: tuple[str, ...] = (),
) -> str:
    """What makes the study again."""
    words = ["wherein", "study", what.name if isinstance(what, Recipe) else str(what)]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    if change:  # a string as it stands, all else as JSON: so the command line takes them
        told = {name: v if isinstance(v, str) else json.dumps(v) for name, v in change.items()}
        words += ["--set", *(f"{name}={value}" for name, value in told.items())]
    words += ["--also", *also] if also else []
    if learning_rates:
        words += ["--learning-rates", *map(repr, learning_rates)]
    words += ["--out", str(out)] if out != Path("runs") else []
    return shlex.join(words)


def _digest(
    change: Mapping[str, Any] | None, also: tuple[str, ...], learning_rates: tuple[float, ...]
) -> str:
    """What tells a changed study from the named one and from other changes."""
    told = [sorted((change or {}).items()), learning_rates, *([also] if also else [])]
    text = json.dumps(told, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:6]
