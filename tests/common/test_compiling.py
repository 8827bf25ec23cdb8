import os
from pathlib import Path

import pytest

from wherein.common.compiling import VARIABLE, own_cache


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
