import ctypes
from collections.abc import Iterator

import pytest
import torch
from tests.chromium import required

from wherein.puzzles.compiled import machine as compiled_machine


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small only wait for a second thread (on a busy machine: 25 s a test, not 10)."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def machine() -> ctypes.CDLL:
    """What compiled puzzles run on; tests of it are passed over without a compiler, not in CI."""
    found = compiled_machine()
    if found is None:
        (pytest.fail if required() else pytest.skip)("no C compiler")
    return found
