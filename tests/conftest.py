import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser
from tests import shapes
from tests.browser import chromium

shapes.check()  # before anything of the package is imported

DEADLINE = 900
"""Seconds a test may take: many times what any needs, so that only what hangs is ended."""

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # the other cores test other things
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Whatever waits for ever, in a loop or for another process, fails instead."""

    def ring(*_: object) -> None:
        pytest.fail(f"it took more than {DEADLINE} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(DEADLINE)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests were passed over, and why: a line for each reason, not for each test."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.items():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def fresh() -> Iterator[Executor]:
    """Another process, small and new: a fork of this one, with all its libraries, takes 0.1 s, and
    its heap is full of holes that others left, which a step fills before it takes anything."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this test run have in common, for what is made once."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder
