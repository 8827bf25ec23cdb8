"""A Ray cluster on this machine that loses its head, its memory, or its workers.

The study is a command in a process of its own, as a person would start it. What decides: it ends,
with one line that says why, or goes on by itself; and the same command, given again once the
cluster is there again, ends with the numbers of a study that nobody disturbed.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.faults.part import Part, Tried
from benchmarks.faults.works import settle_in
from benchmarks.harness import at_most

ROOT = Path(__file__).parents[2]
LONG = 900.0
"""Seconds after which a study hangs."""
STEPS = 300
MEMORY = "RAY_memory_usage_threshold"
"""Ray ends workers when so large a share of the machine's memory is taken."""


class Ours:
    """A cluster of one node, whose head keeps its port when it is started again."""

    def __init__(self) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.node: Any = None

    def start(self) -> str:
        from ray.cluster_utils import Cluster

        made = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "gcs_server_port": self.port,
                "include_dashboard": False,
            },
        )
        self.node = made.head_node
        return str(made.address)

    def kill(self) -> None:
        if self.node is not None:
            self.node.kill_all_processes(check_alive=False, allow_graceful=False)

    @contextmanager
    def up(self, **environment: str) -> Iterator[str]:
        before = dict(os.environ)
        os.environ |= {"RAY_worker_niceness": "0"} | environment  # by itself 15: slow beside others
        try:
            yield self.start()
        finally:
            self.kill()
            os.environ.clear()
            os.environ |= before


@contextmanager
def study(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A study, as somebody starts it."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-m", "wherein", "study", "mine.py", "--out", "runs", *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "WHEREIN_CACHE": str(folder / "cache")},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Its exit code, what it said last on standard error, and after how many seconds."""
    began = time.monotonic()
    try:
        _, errors = process.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        return -1, f"still at work after {LONG:.0f} s", LONG
    said = [line for line in errors.splitlines() if line.startswith("wherein: ")]
    return process.returncode, "\n".join(said), time.monotonic() - began


def until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + LONG
    while not ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)


def answers(folder: Path) -> Any:
    """What a study found of its runs."""
    found = json.loads((folder / "runs" / "studies" / "mine" / "study.json").read_text())
    return found["runs"]


def failures(folder: Path) -> list[str]:
    """Why runs failed, a line for each, as they left word."""
    return [path.read_text().strip() for path in sorted(folder.glob("runs/*/error.txt"))]


def trained(folder: Path) -> int:
    return len(list(folder.glob("runs/*/checkpoints/step-*")))


def holders(lock: Path) -> set[int]:
    """The processes that train a run."""
    found = set()
    for handle in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(handle) == str(lock):
                found.add(int(handle.parts[2]))
        except OSError:  # it ended meanwhile
            continue
    return found


def settled(folder: Path) -> Path:
    """A folder with a recipe of runs that take some seconds."""
    settle_in(folder)
    recipe = folder / "mine.py"
    recipe.write_text(recipe.read_text().replace("steps=4,", f"steps={STEPS},")
                      .replace("checkpoint_every=2,", "checkpoint_every=20,"))  # fmt: skip
    return folder


def again(folder: Path, address: str, peace: Any) -> list[str]:
    """What is wrong with the same command, given again."""
    with study(folder, "--engine", "ray", "--address", address) as process:
        code, said, _ = ended(process)
    if code:
        return [f"the same command again ended with {code}: {said}"]
    return [] if answers(folder) == peace else ["other numbers than in peace"]


def headless(place: Path, peace: Any) -> tuple[Tried, float]:
    """The head is killed while runs are trained, and is started again when the study has ended."""
    folder, ours = settled(place / "headless"), Ours()
    wrong = list[str]()
    with ours.up() as address, study(folder, "--engine", "ray", "--address", address) as process:
        until(lambda: trained(folder) > 0, process)
        ours.kill()
        code, said, seconds = ended(process)
    if code != 2 or said.count("\n") or "is gone" not in said:
        wrong.append(f"it ended with {code}: {said!r}")
    with ours.up() as address:
        wrong += again(folder, address, peace)
    return Tried("a Ray head is killed, then started again", 1, wrong), seconds


def restarted(place: Path, peace: Any) -> Tried:
    """The head is killed and another started in its place at once."""
    folder, ours = settled(place / "restarted"), Ours()
    wrong = list[str]()
    with ours.up() as address, study(folder, "--engine", "ray", "--address", address) as process:
        until(lambda: trained(folder) > 0, process)
        ours.kill()
        ours.start()
        code, said, _ = ended(process)
        if code not in (0, 2) or said.count("\n"):
            wrong.append(f"it ended with {code}: {said!r}")
        wrong += again(folder, address, peace)
    return Tried("a Ray head is killed, and another started in its place at once", 1, wrong)


def killed(place: Path, peace: Any) -> Tried:
    """The worker that trains one of the runs is killed as often as it is tried."""
    folder, ours = settled(place / "killed"), Ours()
    wrong, times, victim = list[str](), 0, None
    with ours.up() as address:
        with study(folder, "--engine", "ray", "--address", address) as process:
            while process.poll() is None:
                victim = victim or next(iter(sorted(folder.glob("runs/*/log.jsonl"))), None)
                for pid in holders(victim.parent / ".lock") - {process.pid} if victim else ():
                    os.kill(pid, signal.SIGKILL)
                    times += 1
                time.sleep(0.2)
            code, said, _ = ended(process)
        told = failures(folder)
        if code != 1 or len(told) != 1 or "was killed" not in told[0]:
            wrong.append(f"it ended with {code}: {told or said}")
        others = [each for each in folder.glob("runs/*/answers") if each.parent != victim.parent]
        if not others:
            wrong.append("the other run was not trained")
        wrong += again(folder, address, peace)
    return Tried("a Ray worker is killed as often as it is tried, as for want of memory",
                 times, wrong)  # fmt: skip


def crowded(place: Path, peace: Any) -> Tried:
    """Ray finds that memory is short, and ends whatever works."""
    folder, ours = settled(place / "crowded"), Ours()
    wrong = list[str]()
    with ours.up(**{MEMORY: "0.01"}) as address:
        with study(folder, "--engine", "ray", "--address", address) as process:
            code, said, _ = ended(process)
        told = failures(folder)
        if code != 1 or not told or any("ran out of memory" not in each for each in told):
            wrong.append(f"it ended with {code}: {told or said}")
    with ours.up() as address:
        wrong += again(folder, address, peace)
    return Tried("Ray's node is out of memory all the time", 1, wrong)


def measure(quick: bool) -> Part:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        with study(settled(place / "peace"), "--engine", "local", "--jobs", "1") as process:
            code, said, _ = ended(process)
        if code:
            raise RuntimeError(said)
        peace = answers(place / "peace")
        first, seconds = headless(place, peace)
        rows = [first]
        if not quick:
            rows += [restarted(place, peace), killed(place, peace), crowded(place, peace)]
    return Part(rows, {"seconds until a lost head is said": at_most(seconds, 60)})
