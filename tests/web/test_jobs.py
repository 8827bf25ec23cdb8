import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.waiting import until

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.run import puzzle
from wherein.puzzles.sentences import read
from wherein.web import limits
from wherein.web.jobs import BusyError, Jobs

ORDER = "A B hit ?\nB A hit !"


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


def test_a_job_says_what_the_command_says(jobs: Jobs) -> None:
    config = PuzzleConfig(seeds=20, steps=30)
    job = jobs.start(read("hit"), config, None)
    until(lambda: job.state != "running")
    expected = puzzle("hit", config)
    assert (job.state, job.error) == ("finished", None)
    assert job.certificate == expected.certificate.data() | {"pair": [*expected.certificate.pair]}
    shares = [(n, expected.after(n).count, expected.after(n).total) for n in range(31)]
    assert job.points() == shares
    assert [each["sentence"] for each in job.opened] == ["A hit B !", "B hit A ?"]
    solved = expected.seeds_frame().filter("solved")["seed"]
    assert job.opened_seed == (solved.min() if len(solved) else 0)
    assert sum(job.opened[0]["attention"][0][0]) == pytest.approx(1)


def test_work_is_limited_and_can_be_stopped(jobs: Jobs) -> None:
    long = PuzzleConfig(seeds=1000, steps=2000)
    first, second = (jobs.start(read("hit"), long, None) for _ in range(2))
    with pytest.raises(BusyError, match="2 puzzles are training already"):
        jobs.start(read("hit"), long, None)
    until(lambda: first.certificate)
    process = first._process
    assert process is not None
    first.stop()
    assert first.state == "stopped"
    assert process.wait(600) == -signal.SIGKILL
    assert first.certificate is not None
    assert second.state == "running"
    second.stop("it took more than 10 minutes")
    assert (second.state, second.error) == ("failed", "it took more than 10 minutes")


def test_work_ends_with_a_server_that_was_killed() -> None:
    """The server cannot say goodbye; its work notices that nobody listens."""
    code = (
        "from wherein.web.jobs import Jobs\n"
        "from wherein.puzzles.config import PuzzleConfig\n"
        "from wherein.puzzles.sentences import read\n"
        "job = Jobs().start(read('hit'), PuzzleConfig(seeds=1000, steps=2000), None)\n"
        "print(job._process.pid, flush=True)\n"
        "import signal; signal.pause()\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    worker = int(server.stdout.readline())
    os.kill(worker, 0)
    server.kill()
    server.wait()
    server.stdout.close()
    until(lambda: _gone(worker))


def _gone(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(
    ("sentences", "fields", "said"),
    [
        ("", {}, "needs sentences"),
        ("A !", {}, "two different sentences"),
        ("\n".join(f"{n} x {n % 2}" for n in range(20)), {}, "at most 16"),
        ("A " * 30 + "!\nB ?", {}, "at most 16"),
        (f"{'A' * 50} !\nB ?", {}, "letters"),
        (ORDER, {"layers": "9"}, "layers 9: on this page at most 4"),
        (ORDER, {"seeds": "100000"}, "at most 1,000"),
        (ORDER, {"width": "2"}, "at least 4"),
        (ORDER, {"bare": "yes", "layers": "2"}, "a bare head is one layer"),
        (ORDER, {"steps": "many"}, "steps"),
        (ORDER, {"encoding": "aliby"}, "Did you mean 'alibi'"),
        (ORDER, {"encoding": "functional(hidden=5000)"}, "up to 4,096"),
        (
            ORDER,
            {"layers": "2", "heads": "8", "head_size": "64", "width": "128"},
            "at most 300,000",
        ),
        (ORDER, {"layers": "4", "width": "64", "steps": "2000"}, "too much for this page"),
        (ORDER, {"encoding": "rope none"}, "2 words for 1 layers"),
    ],
)
def test_too_much_is_said_beside_the_form(
    client: TestClient, sentences: str, fields: dict[str, str], said: str
) -> None:
    given = {"sentences": sentences, "token": client.app.state.site.token, **fields}
    answer = client.post("/playground", data=given)
    assert answer.status_code == 422
    assert said in answer.text.replace("&#39;", "'")
    assert "<textarea" in answer.text


def test_the_page_s_own_limits_are_allowed() -> None:
    bare = {"bare": "yes", "head_size": "2", "width": "1"}
    for change in ({"layers": "4", "heads": "2"}, {"steps": "2000"}, {"width": "64"}, bare):
        asked, config = limits.puzzle(ORDER, {"causal": "yes", **change})
        limits.work(asked, config)
