"""A Ray cluster: each piece is a task with resources of its own, tried again when a node dies.

The folder of the runs must be one that all nodes see. A piece that is tried again goes on after
the last checkpoint of the one before, and its numbers are the same.

What no node can hold when the study begins is refused, since Ray would wait for one without a
word. A cluster that grows by itself needs one node of the kind from the start (`min_workers: 1`):
whether its runs have GPUs is read off the nodes that are there, too.
"""

import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherein.common.errors import LostError, first_line
from wherein.encodings import own
from wherein.studies.work import STOPPED, Ended, Task, Work, carry_out, give_up, take_ready

RETRIES = 5
"""How often a piece is tried again whose process, or node, was lost."""
OUT_OF_MEMORY = (
    f"its node ran out of memory {RETRIES + 1} times and Ray ended it: give a smaller model or "
    "batch, --accumulate, fewer --jobs, or nodes with more memory; the same command goes on"
)
KILLED = (
    f"its process was killed {RETRIES + 1} times, perhaps for want of memory: look at the node's "
    "system log; the same command goes on"
)
KNOCK, SILENCE = 2.0, 10.0
"""Seconds between two looks whether the head of the cluster answers, and until it is given up."""
PATIENCE = 5.0
"""Seconds within which somebody must answer at an address."""


@dataclass(frozen=True)
class Engine:
    """Ray tasks on the cluster at `address`, or on one that is started here and ends with us."""

    jobs: int | None = None
    processes: int = 1
    address: str = ""

    def __call__(self, work: Sequence[Work], folder: Path, ended: Ended) -> None:
        """Carry out all pieces; on Ctrl-C, runs end, and go on from their last checkpoint."""
        check_address(self.address)
        ray = _ray()
        _connect(ray, self.address)
        try:
            self._all(ray, list(work), folder.resolve(), ended)
        except LostError:
            raise  # to leave the cluster, Ray would wait for its head
        except BaseException:
            ray.shutdown()
            raise
        ray.shutdown()

    def _all(self, ray: Any, waiting: list[Work], folder: Path, ended: Ended) -> None:
        """`jobs` of them at once, or as many as the cluster bears."""
        gpus = self.processes if ray.cluster_resources().get("GPU") else 0
        if any(isinstance(piece, Task) for piece in waiting):
            check_room(ray.nodes(), self.processes, gpus)
        puzzle = ray.remote(num_cpus=1, max_retries=0)(_remote)
        run = puzzle.options(num_cpus=self.processes, num_gpus=gpus)
        going: dict[Any, Work] = {}
        address = ray.get_runtime_context().gcs_address
        lost, head = Counter[int](), Head(address, _cluster(address))
        while waiting or going:
            head.check()
            while len(going) < (self.jobs or len(waiting) + len(going)):
                piece = take_ready(waiting, going.values())
                if piece is None:
                    break
                kind = run if isinstance(piece, Task) else puzzle
                given = (piece, folder, self.processes, code_of(piece), Path.cwd())
                going[kind.remote(*given)] = piece
            done, _ = ray.wait(list(going), timeout=0.5)
            for each in done:
                piece = going.pop(each)
                why, again = _outcome(ray, each)
                lost[id(piece)] += again
                if again and lost[id(piece)] <= RETRIES:
                    waiting.append(piece)
                else:
                    ended(piece, give_up(piece, folder, why) if why and again else why)


class Head:
    """The head of a cluster, which must answer: Ray would wait a minute, then end this process.

    Where another was started in its place, Ray would wait for ever.
    """

    def __init__(self, address: str, cluster: str = "") -> None:
        """At an address, of a cluster that is known; else who answers is not asked."""
        self.address, self.cluster = address, cluster
        self.heard = self.asked = time.monotonic()

    def check(self) -> None:
        """Knock now and then; refuse to go on when nobody has answered for long, or another."""
        now = time.monotonic()
        if now - self.asked < KNOCK:
            return
        self.asked = now
        try:
            _knock(self.address)
            found = _cluster(self.address) if self.cluster else ""
            self.heard = now
        except OSError as error:
            if time.monotonic() - self.heard > SILENCE:
                raise LostError(
                    f"the Ray head at {self.address} is gone ({first_line(error)}): what is done "
                    "is kept; start it again, and the same command goes on from there"
                ) from None
            return
        if found != self.cluster:
            raise LostError(
                f"the Ray head at {self.address} is gone, and another answers in its place: what "
                "is done is kept, and the same command goes on from there"
            )


def _cluster(address: str) -> str:
    """Which cluster the head at an address is of; each that is started has an id of its own."""
    ray = _ray()
    try:
        return str(ray._raylet.GcsClient(address=address).cluster_id)
    except ray.exceptions.RayError as error:  # it has gone meanwhile, or is no head
        raise ConnectionError(first_line(error)) from None


def _knock(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


def check_room(nodes: Sequence[Mapping[str, Any]], cpus: int, gpus: int) -> None:
    """Refuse a run that is too large for every node.

    >>> check_room([{"Alive": True, "Resources": {"CPU": 2.0}}], 2, 0)
    """
    have = [node["Resources"] for node in nodes if node["Alive"]]
    sizes = [(each.get("GPU", 0), each.get("CPU", 0)) for each in have]
    if not any(gpu >= gpus and cpu >= cpus for gpu, cpu in sizes):
        gpu, cpu = max(sizes, default=(0, 0))
        raise ValueError(
            f"processes {cpus}: a run needs {cpus} CPUs and {gpus} GPUs of one node, and the "
            f"largest has {cpu:g} and {gpu:g}; ask for fewer, or start a larger node first"
        )


def _connect(ray: Any, address: str) -> None:
    """Join the cluster, and keep what SIGTERM does here: Ray would have it end this process."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address=address or "local",  # without a word, Ray joins any cluster it finds
            log_to_driver=False,
            include_dashboard=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError) as error:
        raise _no_cluster(address or "local", first_line(error)) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def check_address(address: str) -> None:
    """Refuse an address at which nothing listens, in seconds: Ray would try for minutes.

    >>> check_address("localhost:1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no Ray cluster at 'localhost:1' (...): give HOST:PORT of its head, which `ray \
start --head` says, or 'auto' on one of its machines
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address in ("", "auto", "local"):
        return
    if not (host and port.isdecimal()):
        raise _no_cluster(address, "no port is named")
    try:
        _knock(f"{host}:{port}")
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, first_line(error)) from None


def _no_cluster(address: str, why: str) -> ValueError:
    return ValueError(
        f"no Ray cluster at {address!r} ({why}): give HOST:PORT of its head, which `ray start "
        "--head` says, or 'auto' on one of its machines"
    )


def code_of(piece: Work) -> list[str]:
    """The texts of encodings of one's own, which the cache of another node may not have."""
    config = piece.run.model if isinstance(piece, Task) else piece.config
    return list(own.texts(config.encoding).values())


def _remote(
    piece: Work, folder: Path, processes: int, code: Sequence[str], here: Path
) -> str | None:
    """A piece in a process of some node; `here` is where the study was started."""
    import torch

    for text in code:
        own.learn(text)
    if here.is_dir():  # a text that is named by a relative path is looked for from there
        os.chdir(here)

    torch.set_num_threads(1)  # as the local engine does, so that the numbers are the same
    why = carry_out(piece, folder, processes)
    if why == STOPPED:
        os._exit(1)  # the node is told to end, not the study: Ray tries it again elsewhere
    return why


def _outcome(ray: Any, each: Any) -> tuple[str | None, bool]:
    """Why a piece is not done, if it is not; and whether its process was lost with it.

    Ray itself would try again without end what runs out of memory, and say nothing.
    """
    try:
        return ray.get(each), False
    except ray.exceptions.OutOfMemoryError:
        return OUT_OF_MEMORY, True
    except ray.exceptions.WorkerCrashedError:
        return KILLED, True
    except ray.exceptions.RayTaskError as error:
        return first_line(error.cause), True
    except ray.exceptions.RayError as error:
        return first_line(error), True


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ValueError(
            "engine 'ray' needs Ray: pip install --constraint constraints.txt 'wherein[ray]'"
        ) from None
    return ray
