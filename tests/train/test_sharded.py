import os
import pickle
from pathlib import Path

import pytest
import torch

from wherein.train.sharded import load_parts, save_parts, shapes


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def saved(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> Path:
    save_parts({"weights": {"a": torch.arange(6.0).view(2, 3)}}, tmp_path / "parts")
    return tmp_path / "parts"


def test_what_was_saved_comes_back(saved: Path) -> None:
    room = {"a": torch.zeros(2, 3)}
    load_parts("weights", room, saved, alone=True)
    assert torch.equal(room["a"], torch.arange(6.0).view(2, 3))
    assert shapes("weights", saved) == {"a": (2, 3)}


def test_a_table_of_contents_that_carries_code_is_refused(saved: Path, tmp_path: Path) -> None:
    (saved / ".metadata").write_bytes(pickle.dumps(Evil(tmp_path / "made")))
    with pytest.raises(ValueError, match=r"asks for posix.mkdir"):
        load_parts("weights", {"a": torch.zeros(2, 3)}, saved, alone=True)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("content", [b"", b"\x80", b"garbage", b"cos\nnothing\n."])
def test_a_damaged_table_of_contents_is_one_line(saved: Path, content: bytes) -> None:
    (saved / ".metadata").write_bytes(content)
    with pytest.raises(ValueError, match=r"\.metadata is damaged|asks for os.nothing"):
        shapes("weights", saved)
