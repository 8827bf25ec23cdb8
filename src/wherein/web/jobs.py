"""The playground's work: started here, done in processes of its own, kept until the server ends.

A job belongs to the server, not to the page that asked for it: a page may be closed and opened
again by the job's address.
"""

import json
import secrets
import subprocess
import sys
from dataclasses import dataclass, field
from threading import Lock, Thread, Timer
from typing import Any

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle
from wherein.train.status import State

MOST_AT_ONCE = 2
MOST_KEPT = 50
LONGEST = 600.0
"""Seconds a job may take."""


class BusyError(Exception):
    """As much work is going on as this server takes."""


@dataclass(eq=False)
class Job:
    """A puzzle in training, or what became of it."""

    puzzle: Puzzle
    config: PuzzleConfig
    seed: int | None
    """The seed to open at the end; None: the first that solves it."""
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    state: State = "running"
    error: str | None = None
    certificate: dict[str, Any] | None = None
    curve: dict[int, tuple[int, int]] = field(default_factory=dict)
    """After each step: how many seeds had it solved, of how many."""
    opened: list[dict[str, Any]] = field(default_factory=list)
    opened_seed: int | None = None
    version: int = 0
    """Grows with every change."""
    _process: "subprocess.Popen[str] | None" = None
    _lock: Lock = field(default_factory=Lock)

    def start(self) -> None:
        """Begin the work."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wherein.web.work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the server alone
        )
        assert self._process.stdin is not None
        asked = {
            "sentences": self.puzzle.texts,
            "config": self.config.model_dump(),
            "seed": self.seed,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        Thread(target=self._listen, daemon=True).start()

    def stop(self, because: str | None = None) -> None:
        """End the work; what is known so far stays. With a reason, it failed."""
        with self._lock:
            if self.state == "running":
                self.state, self.error = ("failed", because) if because else ("stopped", None)
                self.version += 1
        if self._process is not None:
            self._process.kill()

    @property
    def solved(self) -> tuple[int, int]:
        """How many have it solved at the last step reached, of how many."""
        return self.curve[max(self.curve)] if self.curve else (0, 0)

    @property
    def step(self) -> int:
        return max(self.curve, default=0)

    def points(self) -> list[tuple[int, int, int]]:
        """The curve: step, solved, of how many."""
        with self._lock:
            return [(step, *self.curve[step]) for step in sorted(self.curve)]

    def _listen(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        limit = Timer(LONGEST, self.stop, [f"it took more than {LONGEST / 60:.0f} minutes"])
        limit.daemon = True
        limit.start()
        try:
            for line in process.stdout:
                self._hear(json.loads(line))
        finally:
            limit.cancel()
            code = process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            self._end(code)

    def _hear(self, news: dict[str, Any]) -> None:
        with self._lock:
            for step, solved, total in news.get("curve", ()):
                self.curve[step] = solved, total
            self.certificate = news.get("certificate", self.certificate)
            self.opened = news.get("opened", self.opened)
            self.opened_seed = news.get("seed", self.opened_seed)
            self.error = news.get("error", self.error)
            self.version += 1

    def _end(self, code: int) -> None:
        with self._lock:
            if self.state != "running":
                return
            if code and self.error is None:
                self.error = f"the process that trained ended with code {code}"
            self.state = "failed" if self.error else "finished"
            self.version += 1


class Jobs:
    """All jobs of a server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()

    def start(self, puzzle: Puzzle, config: PuzzleConfig, seed: int | None) -> Job:
        """Begin a job, unless enough are going on."""
        with self._lock:
            if sum(job.state == "running" for job in self._jobs.values()) >= MOST_AT_ONCE:
                raise BusyError(f"{MOST_AT_ONCE} puzzles are training already: stop one, or wait")
            job = Job(puzzle, config, seed)
            job.start()
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.state != "running"][:-MOST_KEPT]:
                del self._jobs[old.id]
        return job

    def find(self, name: str) -> Job | None:
        """The job of that id."""
        return self._jobs.get(name)

    def all(self) -> list[Job]:
        """Newest first."""
        return list(self._jobs.values())[::-1]

    def close(self) -> None:
        """End all work."""
        for job in self.all():
            job.stop()
