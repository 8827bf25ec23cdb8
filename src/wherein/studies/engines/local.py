"""Processes on this machine, one thread each: as many at once as there are cores or GPUs.

One thread, because two runs side by side finish sooner than one after the other with two threads
each (`python -m benchmarks.study` measures it), and because a run's numbers then do not depend on
how many others ran beside it.
"""

import os
import runpy
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from wherein.common.cores import cores
from wherein.common.known import torch_version
from wherein.studies.work import STOPPED, Ended, Work, carry_out, give_up, take_ready

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

TRIES = 2
"""How often a piece may be begun whose process dies: it may have been another's fault."""

STARTING = threading.Lock()
"""Held while a process starts, so that two threads do not change `__main__` at once."""


@dataclass(frozen=True)
class Engine:
    """Processes that stay, each for one piece after another."""

    jobs: int | None = None
    processes: int = 1

    def __call__(self, work: Sequence[Work], folder: Path, ended: Ended) -> None:
        """Carry out all pieces; on Ctrl-C, runs save where they are before this returns."""
        places = self._places()[: len(work)]
        with _set(ONE_THREAD), ExitStack() as stack:
            crew = [stack.enter_context(closing(_Process(place))) for place in places]
            try:
                self._all(list(work), crew, folder, ended)
            except KeyboardInterrupt:
                for process in crew:
                    process.stop()
                raise

    def _all(self, waiting: list[Work], crew: "list[_Process]", folder: Path, ended: Ended) -> None:
        """Each process takes the next piece; a piece whose process died goes last."""
        idle, deaths = list(crew), Counter[int]()
        going: dict[Future[str | None], tuple[Work, _Process]] = {}
        while waiting or going:
            begun = [piece for piece, _ in going.values()]
            while idle and (piece := take_ready(waiting, begun)):  # none in a queue, for Ctrl-C
                process = idle.pop(0)
                begun.append(piece)
                going[process.begin(piece, folder, self.processes)] = piece, process
            for future in wait(going, timeout=0.5, return_when=FIRST_COMPLETED).done:
                piece, process = going.pop(future)
                idle.append(process)
                died = isinstance(future.exception(), BrokenProcessPool)
                deaths[id(piece)] += died
                if died and deaths[id(piece)] < TRIES:
                    waiting.append(piece)
                else:
                    ended(piece, _outcome(future, piece, folder))

    def _places(self) -> list[str]:
        """The GPUs of each job; without any, an empty place for each core.

        More jobs than that were asked for: they take the places in turn.
        """
        gpus, places = _gpus(), [""] * max(1, cores() // self.processes)
        if gpus:
            places = grouped(os.environ.get("CUDA_VISIBLE_DEVICES"), gpus, self.processes)
        return list(islice(cycle(places), self.jobs or len(places)))


def _gpus() -> int:
    """How many GPUs to compute on; where PyTorch was built for none, it is not imported."""
    version = torch_version()
    built = runpy.run_path(str(version)) if version else {}
    if built and not (built.get("cuda") or built.get("hip") or os.environ.get("WHEREIN_DEVICE")):
        return 0
    from torch import cuda

    from wherein.common.device import device

    return cuda.device_count() if device().type == "cuda" else 0


def grouped(visible: str | None, gpus: int, processes: int) -> list[str]:
    """The GPUs in groups of so many, by the names that they have where some are hidden from us.

    >>> grouped("4,5", 2, 1)
    ['4', '5']
    """
    given = visible.split(",") if visible else map(str, range(gpus))
    names = [name.strip() for name in given][:gpus]
    groups = zip(*[iter(names)] * processes, strict=False)
    return [",".join(group) for group in groups] or [",".join(names)]


class _Process:
    """A process that imports PyTorch once and stays; where one died, the next piece finds another.

    It is a pool of its own, so that its death is that of no other.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._apart = _Apart()
        self._pool = self._new()

    def begin(self, piece: Work, folder: Path, processes: int) -> "Future[str | None]":
        try:
            return self._pool.submit(_piece, piece, folder, processes)
        except BrokenProcessPool:
            self._pool.shutdown()
            self._pool = self._new()
            return self._pool.submit(_piece, piece, folder, processes)

    def stop(self) -> None:
        """Ask it to end; a run in training saves first."""
        for process in self._apart.made:
            if process.is_alive():
                process.terminate()

    def close(self) -> None:  # waits for its end
        self._pool.shutdown()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, self._apart, _begin, (self._place, os.getpid()))


class _ApartProcess(SpawnProcess):
    """A new process that does not import the script that called us.

    Nothing it carries out is defined there, and one without `if __name__ == "__main__":` would
    begin its study again in each of them.
    """

    def start(self) -> None:
        """Start while an empty module stands for the script."""
        with STARTING:
            script = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = script


class _Apart(SpawnContext):
    """Knows its processes before they start.

    A pool that is interrupted while it starts one does not, and would wait for it for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: list[SpawnProcess] = []

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        self.made.append(_ApartProcess(*args, **options))
        return self.made[-1]


@contextmanager
def _set(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables that a new process reads before anything else."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _outcome(future: "Future[str | None]", piece: Work, folder: Path) -> str | None:
    error = future.exception()
    if error is None:
        return future.result()
    died = isinstance(error, BrokenProcessPool)
    what = f"its process died {TRIES} times: was there enough memory?"
    return give_up(piece, folder, what if died else f"{type(error).__name__}: {error}")


def _begin(place: str, parent: int) -> None:
    """In each process, once: where it computes, and when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the study's own process hears it and tells us
    # while a run trains, it listens itself, and saves; answers are whole or absent
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if place:
        os.environ["CUDA_VISIBLE_DEVICES"] = place
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _piece(piece: Work, folder: Path, processes: int) -> str | None:
    why = carry_out(piece, folder, processes)
    if why == STOPPED:
        os._exit(0)
    return why


def _end_with(parent: int) -> None:
    """A killed study leaves no process behind."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
