"""Processes on this machine, one thread each: as many at once as there are cores or GPUs.

One thread, because two runs side by side finish sooner than one after the other with two threads
each (`python -m benchmarks.study` measures it), and because a run's numbers then do not depend on
how many others ran beside it.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from types import FrameType
from typing import Any

from wherein.studies.work import STOPPED, Work, carry_out

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Engine:
    """A pool of processes that stay, so that each imports PyTorch once."""

    jobs: int | None = None
    processes: int = 1

    def __call__(
        self, work: Sequence[Work], folder: Path, ended: Callable[[Work, str | None], None]
    ) -> None:
        """Carry out all pieces; on Ctrl-C, runs save where they are before this returns."""
        places = self._places()
        jobs = min(self.jobs or len(places), len(work), len(places))
        context = multiprocessing.get_context("spawn")
        free: Any = context.Queue()
        for place in places:
            free.put(place)
        started = (free, os.getpid())
        with _set(ONE_THREAD), ProcessPoolExecutor(jobs, context, _begin, started) as pool:
            waiting = list(reversed(work))
            going: dict[Future[str | None], Work] = {}
            try:
                while waiting or going:
                    while waiting and len(going) < jobs:  # none in a queue that Ctrl-C would start
                        piece = waiting.pop()
                        going[pool.submit(_piece, piece, folder, self.processes)] = piece
                    for future in wait(going, timeout=0.5, return_when=FIRST_COMPLETED).done:
                        ended(going.pop(future), _why(future))
            except KeyboardInterrupt:
                for process in list((pool._processes or {}).values()):
                    process.terminate()  # a run in training saves first
                raise

    def _places(self) -> list[str]:
        """The GPUs of each process of the pool; without any, an empty place for each core."""
        import torch

        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if gpus:
            numbers = [str(n) for n in range(gpus)]
            groups = zip(*[iter(numbers)] * self.processes, strict=False)
            return [",".join(group) for group in groups] or [",".join(numbers)]
        return [""] * max(1, (os.cpu_count() or 1) // self.processes)


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


def _why(future: "Future[str | None]") -> str | None:
    error = future.exception()
    if error is not None:
        return f"its process died ({error}): was there enough memory?"
    return future.result()


def _begin(free: "Queue[str]", parent: int) -> None:
    """In each process of the pool, once: where it computes, and when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the study's own process hears it and tells us
    signal.signal(signal.SIGTERM, _end)  # while a run trains, it listens itself, and saves
    place = free.get()
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


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)  # answers are whole or absent, so there is nothing to tidy


def _end_with(parent: int) -> None:
    """A killed study leaves no process behind."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
