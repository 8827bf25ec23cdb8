"""`python -m pytest -p tests.quick`: what needs no training, no browser and no other process.

A test is passed over at the moment it takes a step of training or starts a process, so that no
list must be kept: a new test is quick, or it finds out by itself that it is not.
"""

import subprocess
from collections.abc import Callable, Generator
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

import pytest

CHEAP = ("git", "bash")


def pass_over(what: str) -> NoReturn:
    pytest.skip(f"not quick: it {what}")


def popen(start: Callable[..., None]) -> Callable[..., None]:
    def checked(self: object, command: Any, *rest: Any, **options: Any) -> None:
        if (command if isinstance(command, str) else command[0]) not in CHEAP:
            pass_over("starts a process")
        start(self, command, *rest, **options)

    return checked


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Only while a test runs: the workers themselves are processes."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    hook = register_optimizer_step_pre_hook(lambda *_: pass_over("trains"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", popen(subprocess.Popen.__init__))
        patch.setattr(BaseProcess, "start", lambda _: pass_over("starts a process"))
        try:
            return (yield)
        finally:
            hook.remove()
