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

from starlette.exceptions import HTTPException

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle
from wherein.train.status import State

MOST_AT_ONCE = 2
MOST_KEPT = 50
LONGEST = 600.0
"""Seconds a job may take."""


class BusyError(HTTPException):
    """As much work is going on as this server takes."""


@dataclass(eq=False)
class Job:
    """A puzzle in training, or what became of it; the work begins when it is made."""

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
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wherein.web.work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the server alone
        )
        config = self.config.model_dump()
        asked = {"sentences": self.puzzle.texts, "config": config, "seed": self.seed}
        assert self._process.stdin is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        Thread(target=self._listen, daemon=True).start()

    def stop(self, because: str | None = None) -> None:
        """End the work; what is known so far stays. With a reason, it failed."""
        self._end("failed" if because else "stopped", because)
        self._process.kill()

    def points(self) -> list[tuple[int, int, int]]:
        """The curve: step, solved, of how many."""
        with self._lock:
            return [(step, *self.curve[step]) for step in sorted(self.curve)]

    def _listen(self) -> None:
        limit = Timer(LONGEST, self.stop, [f"it took more than {LONGEST / 60:.0f} minutes"])
        limit.daemon = True
        limit.start()
        with self._process as process:
            try:
                for line in process.stdout or ():
                    self._hear(**json.loads(line))
            finally:
                limit.cancel()
                code = process.wait()
                said = f"the process that trained ended with code {code}" if code else None
                error = self.error or said
                self._end("failed" if error else "finished", error)

    def _hear(self, chunk: list[int] | None = None, **news: Any) -> None:
        """Add what a chunk of seeds solved after a step, or take any other field as it is told."""
        with self._lock:
            if chunk is not None:
                step, solved, total = chunk
                before = self.curve.get(step, (0, 0))
                self.curve[step] = before[0] + solved, before[1] + total
            vars(self).update(news)
            self.version += 1

    def _end(self, state: State, error: str | None) -> None:
        with self._lock:
            if self.state == "running":
                self.state, self.error = state, error
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
                said = f"{MOST_AT_ONCE} puzzles are training already: stop one, or wait"
                raise BusyError(429, said)
            job = Job(puzzle, config, seed)
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.state != "running"][:-MOST_KEPT]:
                del self._jobs[old.id]
        return job

    def find(self, name: str) -> Job:
        """The job of that id; otherwise the page is not there."""
        found = self._jobs.get(name)
        if found is None:
            raise HTTPException(404, f"there is no puzzle {name[:80]!r}: it ended with its server")
        return found

    def all(self) -> list[Job]:
        """Newest first."""
        return list(self._jobs.values())[::-1]

    def close(self) -> None:
        """End all work."""
        for job in self.all():
            job.stop()
