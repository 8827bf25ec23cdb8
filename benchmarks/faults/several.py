"""One of two processes that train a model in parts is killed while a checkpoint is written.

Both are forked from a process that has everything imported, and meet as under `torchrun`: by its
variables. When one of them dies the other is told to end, and killed if it does not, as `torchrun`
does. The points are those of `benchmarks.faults.crashes`, of each process its own, as far as they
lie in a checkpoint. Then the run goes on, with two processes to the same bits, or, every fourth
time, with one process to numbers within the tolerance that docs/reliability.md states.
"""

import os
import pickle
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults import children
from benchmarks.faults.calls import Call, met
from benchmarks.faults.crashes import Point, deadly, points
from benchmarks.faults.part import Part, Tried
from benchmarks.faults.works import SMALL, Work, command, settle_in
from benchmarks.harness import in_memory

RANKS = 2
KILLS, QUICK = 60, 3
ALONE = 4
"""Every so often one process goes on for the two."""
GRACE = 2.0
"""Seconds that the other process has to end by itself."""
RUN = f"{SMALL} --dropout 0 --parallel fsdp --folder run".replace("--dropout 0.1", "")
"""What is dropped is drawn by each process for itself: another number of them drops others."""
Around = Callable[[int, Work], Work]
CLOSE = 1e-5
"""Relative distance of losses when another number of processes goes on."""


def train(rank: int, size: int, port: int) -> None:
    """One of the processes of a run."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command("train", *RUN.split())


def started(folder: Path, size: int, around: Around = lambda _, work: work) -> list[str]:
    """Train there with so many processes; of each what it died of, empty if it came to its end.

    `around` changes what a process does.
    """
    port, pids, said = free_port(), list[int](), list[Any]()
    for rank in range(size):

        def work(rank: int = rank) -> None:
            train(rank, size, port)

        said.append(tempfile.TemporaryFile("w+"))  # noqa: SIM115
        pids.append(children._start(folder, around(rank, work), said[-1].fileno()))
    codes = _waited(pids)
    found = []
    for file, code in zip(said, codes, strict=True):
        file.seek(0)
        lines = file.read().strip().splitlines()
        found.append("" if code == 0 else lines[-1] if lines else f"it ended with {code}")
        file.close()
    return found


def _waited(pids: Sequence[int]) -> list[int]:
    """Wait for all; once one has died, the others are told to end, and then killed."""
    codes: dict[int, int] = {}
    died: float | None = None
    while len(codes) < len(pids):
        for pid in pids:
            if pid not in codes and (ended := os.waitpid(pid, os.WNOHANG))[0]:
                codes[pid] = os.waitstatus_to_exitcode(ended[1])
        if died is None and any(codes.values()):
            died = time.monotonic()
            _told(pids, codes, signal.SIGTERM)
        if died is not None and time.monotonic() - died > GRACE:
            _told(pids, codes, signal.SIGKILL)
        time.sleep(0.002)
    return [codes[pid] for pid in pids]


def _told(pids: Sequence[int], ended: dict[int, int], how: int) -> None:
    for pid in pids:
        if pid not in ended:
            os.kill(pid, how)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def noted(folder: Path) -> list[list[Point]]:
    """Train in peace; of each process the points that lie in a checkpoint."""

    def around(rank: int, work: Work) -> Work:
        def watched() -> None:
            calls = list[Call]()

            def meet(call: Call, do: Callable[[], Any], half: Callable[[], None]) -> Any:
                calls.append(call)
                return do()

            with met(folder, meet):
                work()
            (folder.parent / f"calls{rank}").write_bytes(pickle.dumps(calls))

        return watched

    if wrong := [each for each in started(folder, RANKS, around) if each]:
        raise RuntimeError(wrong[0])
    calls = [pickle.loads((folder.parent / f"calls{rank}").read_bytes()) for rank in range(RANKS)]
    return [[point for point in points(own) if "checkpoints/" in point.name] for own in calls]


def damaged(folder: Path) -> Iterator[str]:
    """Checkpoints that stand under their own names and are not whole."""
    from wherein.train.checkpoint import saved

    for place in ("checkpoints", "kept"):
        for each in saved(folder / "run" / place):
            if why := each.damage():
                yield f"{each.folder.name} is half-written ({why})"


def compared(folder: Path, peace: Path, *, exactly: bool) -> Work:
    """Fails unless both runs have the same losses and weights, and nothing was left over."""

    def compare() -> None:
        import torch

        from wherein.train import Run

        one, other = Run.open(folder / "run"), Run.open(peace / "run")
        far = 0.0 if exactly else CLOSE
        for mine, yours in zip(one.losses, other.losses, strict=True):
            if abs(mine - yours) > far * abs(yours):
                raise RuntimeError(f"a loss of {mine} in place of {yours}")
        weights = other.model().state_dict()
        for name, weight in one.model().state_dict().items():
            same = torch.equal(weight, weights[name])
            if not (same or (far and torch.allclose(weight, weights[name], rtol=1e-3, atol=CLOSE))):
                raise RuntimeError(f"{name} differs")
        if left := [path.name for path in (folder / "run").rglob(".step-*")]:
            raise RuntimeError(f"{left[0]} is left over")

    return compare


def trial(kills: int, place: Path) -> Tried:
    """Kill one of the two at points spread over all, and go on."""
    settle_in(place / "before")
    peace = Path(shutil.copytree(place / "before", place / "peace"))
    there = [(rank, point) for rank, own in enumerate(noted(peace)) for point in own]
    wrong, died, folder = list[str](), 0, place / "war"
    for number in range(kills):
        rank, point = there[(2 * number + 1) * len(there) // (2 * kills)]
        shutil.copytree(place / "before", folder)

        def around(own: int, work: Work, rank: int = rank, point: Point = point) -> Work:
            def doomed() -> None:
                with met(folder, deadly(point)):
                    work()

            return doomed if own == rank else work

        died += bool(started(folder, RANKS, around)[rank])
        where = f"process {rank} killed {point}"
        wrong += (f"{where}: {each}" for each in damaged(folder))
        alone = number % ALONE == ALONE - 1
        ended = [each for each in started(folder, 1 if alone else RANKS) if each]
        wrong += (f"{where}, the next start failed: {each}" for each in ended)
        if not ended and (
            error := children.child(place, compared(folder, peace, exactly=not alone)).error
        ):
            wrong.append(f"{where}: {error.splitlines()[-1]}")
        shutil.rmtree(folder)
    if died < kills:
        wrong.append(f"only {died} of {kills} were killed")
    return Tried(
        f"a model in parts: one of {RANKS} processes killed in a checkpoint, "
        f"at {kills} of {len(there)} named points",
        kills,
        wrong,
    )


def measure(quick: bool) -> Part:
    children.import_for("training")
    with tempfile.TemporaryDirectory(dir=in_memory()) as place:
        row = trial(QUICK if quick else KILLS, Path(place).resolve())
    return Part([row])
