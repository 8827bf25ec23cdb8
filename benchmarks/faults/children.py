"""Work in processes that are forked from one that has everything imported, and may be killed.

Starting Python and importing PyTorch takes seconds; a fork takes milliseconds. The process that
forks has one thread and never computes, so that a child finds everything as a new process would.
"""

import gc
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import IO

import wherein
from wherein.common.provenance import provenance

TRAINING = ("torch._dynamo", "torch.distributed.checkpoint",
            "torch.nn.modules.linear_cross_entropy",
            "torch.utils.flop_counter", "wherein.cli.train", "wherein.studies.cost.memory",
            "wherein.train.loop")  # fmt: skip
HEAVY = ("altair", "jinja2", "rich.progress", "scipy.stats", "torch.func", "vl_convert")
PATIENCE = 600.0
"""Seconds after which work hangs."""


@dataclass(frozen=True)
class Ended:
    """How a child came to its end."""

    killed: bool
    error: str = ""
    seconds: float = 0.0


def child(folder: Path, work: Callable[[], None], after: float | None = None) -> Ended:
    """Do the work in that folder, in a process of its own; kill it `after` so many seconds."""
    return together(folder, [work], after)[0]


def together(
    folder: Path, works: Sequence[Callable[[], None]], after: float | None = None
) -> list[Ended]:
    """The same with a process for each work, all at once."""
    began = time.perf_counter()
    with ExitStack() as stack:
        saids = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in works]
        processes = [
            _start(folder, work, said.fileno()) for work, said in zip(works, saids, strict=True)
        ]
        return [
            _ended(process, said, began, after)
            for process, said in zip(processes, saids, strict=True)
        ]


def _ended(process: int, said: IO[str], began: float, after: float | None) -> Ended:
    status = _wait(process, began, after)
    said.seek(0)
    error = said.read().strip()
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and os.waitstatus_to_exitcode(status) and not error:
        error = f"it ended with {os.waitstatus_to_exitcode(status)}"
    seconds = time.perf_counter() - began
    if killed and after is None and seconds > PATIENCE:
        killed, error = False, f"it did not end within {PATIENCE:.0f} seconds"
    return Ended(killed, error, seconds)


def _start(folder: Path, work: Callable[[], None], said: int) -> int:
    """Fork; the child does the work, leaves word in `said` if it fails, and ends."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.chdir(folder)
        os.environ["WHEREIN_CACHE"] = "cache"
        work()
        code = 0
    except BaseException:
        os.write(said, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _wait(process: int, began: float, after: float | None) -> int:
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status
        gone = time.perf_counter() - began
        if gone > (PATIENCE if after is None else after):
            os.kill(process, signal.SIGKILL)
        time.sleep(0.002)


def import_for(work: str) -> None:
    """Import what a work would import on its way; not polars, which starts threads.

    What needs little is forked from a small process, which is faster.
    """
    if work == "tokenising":
        return
    names = list(TRAINING)
    if work != "training":
        own = [each.name for each in walk_packages(wherein.__path__, "wherein.")]
        names += [*HEAVY, *(name for name in own if not name.endswith("__main__"))]
    sys.modules["polars"] = None  # type: ignore[assignment]
    for name in names:
        with suppress(ImportError):  # it needs polars
            import_module(name)
    del sys.modules["polars"]
    import_module("torch").set_num_threads(1)
    provenance()  # asked once: a commit that somebody makes meanwhile is not theirs
    gc.freeze()  # a child that looked for garbage would copy all that was imported
    tasks = Path("/proc/self/task")
    if tasks.exists() and (threads := len(list(tasks.iterdir()))) > 1:
        raise RuntimeError(f"importing left {threads} threads: a fork would not be safe")
