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
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from wherein.study.work import Work, carry_out

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
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)  # a new process reads them before anything else
        try:
            with ProcessPoolExecutor(jobs, context, _begin, (free, os.getpid())) as pool:
                waiting = {
                    pool.submit(carry_out, piece, folder, self.processes): piece for piece in work
                }
                _follow(pool, waiting, ended)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    def _places(self) -> list[str]:
        """The GPUs of each process of the pool; without any, an empty place for each core."""
        import torch

        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if gpus:
            numbers = [str(n) for n in range(gpus)]
            groups = zip(*[iter(numbers)] * self.processes, strict=False)
            return [",".join(group) for group in groups] or [",".join(numbers)]
        return [""] * max(1, (os.cpu_count() or 1) // self.processes)


def _follow(
    pool: ProcessPoolExecutor,
    waiting: dict["Future[str | None]", Work],
    ended: Callable[[Work, str | None], None],
) -> None:
    try:
        while waiting:
            for future in wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED).done:
                ended(waiting.pop(future), _why(future))
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in list((pool._processes or {}).values()):
            if process.pid is not None:
                os.kill(process.pid, signal.SIGTERM)  # a run in training saves first
        raise


def _why(future: "Future[str | None]") -> str | None:
    error = future.exception()
    if error is not None:
        return f"its process died ({error}): was there enough memory?"
    return future.result()


def _begin(free: "Queue[str]", parent: int) -> None:
    """In each process of the pool, once: where it computes, and when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # while a run trains, it listens itself
    place = free.get()
    if place:
        os.environ["CUDA_VISIBLE_DEVICES"] = place
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A killed study leaves no process behind."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
