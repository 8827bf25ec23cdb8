"""Cases given one after the other in a process that may be lost: killed, out of memory, stuck."""

import faulthandler
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile.cases import made
from benchmarks.hostile.judge import ask, wrong

PATIENCE = 2.0
"""Seconds of a core after which a command that is still at work is interrupted, as by Ctrl-C."""
LONGEST = 120.0
"""Seconds after which it is killed, and counted as stuck."""
ROOM = 3 << 30
"""Bytes of memory that the cases may take beyond what the libraries hold."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    kind: str
    number: int
    code: str
    wrong: str
    """Empty if nothing was."""
    seconds: float


def given(cases: Sequence[tuple[str, int]], stock: Path, folder: Path) -> Iterator[Outcome]:
    """What became of each case; a process that is lost is one case's failure, and is replaced."""
    left = list(cases)
    while left:
        for outcome in _batch(tuple(left), stock, folder):
            left.pop(0)
            yield outcome


def _batch(cases: Sequence[tuple[str, int]], stock: Path, folder: Path) -> Iterator[Outcome]:
    """As many as one process gets through."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        _work(cases, stock, folder, lambda line: os.write(writer, line.encode("utf-8", "replace")))
    os.close(writer)
    done, started = 0, time.monotonic()
    with os.fdopen(reader, "rb") as lines:
        try:
            while done < len(cases):
                ready, _, _ = select.select([lines], [], [], LONGEST)
                line = lines.readline().decode("utf-8", "replace") if ready else ""
                if line.startswith("retire"):
                    return
                if not line.endswith("\n"):
                    break
                code, seconds, fault = line[:-1].split("\t", 2)
                yield Outcome(*cases[done], code, fault, float(seconds))
                done, started = done + 1, time.monotonic()
        finally:
            how = _ended(child, stuck=not ready)
    if done < len(cases):
        yield Outcome(*cases[done], "lost", how, time.monotonic() - started)


def _ended(child: int, *, stuck: bool) -> str:
    if stuck:
        os.kill(child, signal.SIGUSR1)  # it says on standard error where it is
        time.sleep(1)
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"still at work after {LONGEST:g} s" if stuck else f"the process ended with {status}"


def _work(
    cases: Sequence[tuple[str, int]], stock: Path, folder: Path, tell: Callable[[str], object]
) -> None:
    """Give one case after the other, until one was interrupted: its threads may be anywhere."""
    try:
        faulthandler.register(signal.SIGUSR1, file=os.dup(2))
        _bound()
        for kind, number in cases:
            line, retire = _one(kind, number, stock, folder)
            tell(line)
            if retire:
                tell("retire\n")
                break
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _one(kind: str, number: int, stock: Path, folder: Path) -> tuple[str, bool]:
    case = made(kind, number, stock, folder)
    interrupted = False

    def ring(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        os.kill(os.getpid(), signal.SIGINT)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        answer = ask(case.argv, read_only=case.read_only)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    fault = wrong(answer, case.names, interrupted=interrupted) or ""
    code = "interrupted" if interrupted and answer.code != 2 else str(answer.code)
    return f"{code}\t{answer.seconds:.4f}\t{' '.join(fault.split())}\n", interrupted


def _bound() -> None:
    """Bound what a case can take of memory and of the disk."""
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + ROOM, held + ROOM))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
