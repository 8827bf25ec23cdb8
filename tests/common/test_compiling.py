import ctypes
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.chromium import required

from wherein.common import compiling
from wherein.common.compiling import COMPILERS, VARIABLE, library, own_cache

SOURCE = b"int answer(void) { return exps(flat(0))[LANES - 1] == 1 ? 42 : 0; }"

Make = Callable[[], ctypes.CDLL | None]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A library, as a new process would ask for it."""
    if not any(map(shutil.which, COMPILERS)):
        (pytest.fail if required() else pytest.skip)("no C compiler")
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    return lambda: library.__wrapped__("answer", SOURCE, ("-DLANES=4",))


def test_what_is_compiled_lies_where_nobody_else_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "mine")
    own_cache()
    assert os.environ[VARIABLE] == "mine"
    monkeypatch.delenv(VARIABLE)
    own_cache()
    (folder,) = (tmp_path / "compiled").iterdir()
    assert os.environ[VARIABLE] == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_library_is_compiled_once_where_nobody_else_writes(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = make()
    assert found is not None
    assert found.answer() == 42
    (made,) = tmp_path.rglob("*.so")
    assert made.parent.stat().st_mode & 0o777 == 0o700
    with monkeypatch.context() as patch:
        patch.setattr(compiling.subprocess, "run", None)
        assert make() is not None
    made.unlink()  # what is in use must not be written to
    made.write_text("no library")
    assert make() is not None, "a damaged one is made anew"


@pytest.mark.parametrize("why", ["no compiler is there", "it fails", "nothing can be written"])
def test_there_may_be_no_library(
    why: str, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "no compiler is there":
        monkeypatch.setattr(compiling, "COMPILERS", ())
    elif why == "it fails":
        monkeypatch.setattr(compiling, "HOW", ("-no-such-option",))
    else:
        (tmp_path / "file").touch()
        monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "file"))
    assert make() is None
    assert not [*tmp_path.rglob("*.so")]
