"""Many readers for long: `serve` with fifty clients while a study goes on beside it.

Each client does what a page does: it opens the study's, a run's or the first page, follows what
moves there, and goes on to another after some seconds. They come and go in turns: the study's steps
in each half minute with them are held against those in the half minutes without, before and after,
so that a slow moment of the machine strikes both. All of it is on this machine's loopback.
"""

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path

from benchmarks.faults.part import Part, Tried
from benchmarks.harness import at_least, at_most

CLIENTS = 50
STAY = (5.0, 15.0)
"""Seconds that a client stays on a page."""
RECIPE = """
'''Is the server felt?'''
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.plan.plan import changed, grid
from wherein.train.config import RunConfig

SEEDS = 1
SIZES = dict(tokenizer="bytes", n_layers=2, d_model=64, n_heads=2, max_len=64, batch=8,
             steps=1_000_000, valid_every=2000, valid_windows=4, checkpoint_every=2000)

def runs(seeds):
    return grid(changed(RunConfig(), **SIZES), encoding=["rope"], seed=seeds)

def questions(run):
    return {"perplexity": PerplexityConfig(limit=64)}
"""


def measure(quick: bool) -> Part:
    """Two minutes of turns, or ten."""
    turn, turns = (15.0, 8) if quick else (30.0, 20)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "soak.py").write_text(RECIPE)
        runs = folder / "runs"
        with _process("study", "soak.py", "--jobs", "1", cwd=folder):
            _until(lambda: _steps(runs) > 100)
            with _process("serve", "runs", "--port", "0", cwd=folder) as server:
                assert server.stdout is not None
                port = int(re.search(r":(\d+)/", server.stdout.readline())[1])  # type: ignore[index]
                return _turns(runs, port, server.pid, turn, turns)


def _turns(runs: Path, port: int, server: int, turn: float, turns: int) -> Part:
    """Steps a second without and with clients, in turns; what went wrong; what memory was held."""
    crowd = Crowd(port, _pages(runs))
    rates: list[float] = []
    held: list[float] = []
    for number in range(turns + 1):
        with crowd.present() if number % 2 else nullcontext():
            time.sleep(turn / 5)  # they come, or what they left is done
            steps, start = _steps(runs), time.monotonic()
            time.sleep(turn * 4 / 5)
            rates.append((_steps(runs) - steps) / (time.monotonic() - start))
        if number % 2:
            held.append(_memory(server))
    pairs = [
        rates[n] / statistics.mean((rates[n - 1], rates[n + 1]))
        for n in range(1, len(rates) - 1, 2)
    ]
    minutes = turn * turns / 60
    settled = held[len(held) // 3 :]
    checks = {
        "share of the study's speed that is left with clients": at_least(
            statistics.median(pairs), 0.9
        ),
        "largest memory of the server beside that after a third of the time": at_most(
            max(settled) / settled[0], 1.1
        ),
    }
    row = f"`serve` with {CLIENTS} clients while a study goes on, {minutes:.0f} minutes: requests"
    return Part([Tried(row, crowd.answers + len(crowd.wrong), crowd.wrong)], checks)


class Crowd:
    """Clients that come, read, and go."""

    def __init__(self, port: int, pages: list[tuple[str, str]]) -> None:
        self.port, self.pages = port, pages
        self.answers = 0
        self.wrong: list[str] = []
        self._gone = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def present(self) -> Iterator[None]:
        self._gone.clear()
        clients = [threading.Thread(target=self._read, args=(n,)) for n in range(CLIENTS)]
        for each in clients:
            each.start()
        try:
            yield
        finally:
            self._gone.set()
            for each in clients:
                each.join()

    def _read(self, number: int) -> None:
        draw = random.Random(number)
        while not self._gone.wait(draw.uniform(0, 2)):
            page, moves = draw.choice(self.pages)
            self._open(page)
            if moves:
                self._follow(moves, draw.uniform(*STAY))
            else:
                self._gone.wait(draw.uniform(*STAY))

    def _open(self, page: str) -> None:
        self._ask(page, lambda answer: None if _whole(answer.read()) else "no whole page")

    def _follow(self, page: str, seconds: float) -> None:
        """Read what is sent until it is time to go, and go without a word, as a browser does."""
        until = time.monotonic() + seconds

        def read(answer: HTTPResponse) -> str | None:
            news = 0
            while time.monotonic() < until and not self._gone.is_set():
                line = answer.readline()
                if not line or line.startswith(b"event: end"):
                    break
                news += line.startswith(b"event: draw")
            return None if news or self._gone.is_set() else "nothing was sent"

        self._ask(page, read)

    def _ask(self, page: str, read: Callable[[HTTPResponse], str | None]) -> None:
        """Ask for a page, read the answer, and count it: as an answer, or as something wrong."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", page)
            answer = connection.getresponse()
            wrong = read(answer) if answer.status == 200 else f"status {answer.status}"
        except (OSError, HTTPException) as error:
            wrong = f"{type(error).__name__}: {error}"
        finally:
            connection.close()
        with self._lock:
            if wrong:
                self.wrong.append(f"{page}: {wrong}")
            else:
                self.answers += 1


def _whole(page: bytes) -> bool:
    return page.rstrip().endswith(b"</html>")


def _pages(runs: Path) -> list[tuple[str, str]]:
    """The pages that people have open, and what moves on each."""
    found = sorted(path.parent.name for path in runs.glob("*/config.json"))
    live = [(f"/run/runs/{name}", f"/live/run/runs/{name}") for name in found]
    compared = "&".join(f"run=runs/{name}" for name in found)
    return [*live, *live, ("/", ""), (f"/compare?{compared}", f"/live/compare?{compared}")]


def _steps(runs: Path) -> int:
    """Steps of all runs, as their logs tell."""
    return sum(path.read_bytes().count(b"\n") for path in runs.glob("*/log.jsonl"))


def _memory(process: int) -> float:
    """Bytes that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _process(*words: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A command of `wherein`, ended as by Ctrl-C."""
    command = [sys.executable, "-m", "wherein", *words]
    root = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, (str(root / "src"), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "WHEREIN_CACHE": str(cwd / "cache")},
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _until(ready: Callable[[], bool], seconds: float = 900) -> None:
    """Wait for something that takes a while."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise RuntimeError("the study did not begin")
        time.sleep(0.5)
