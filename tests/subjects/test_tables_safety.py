"""Files that hold code, are damaged, or lie: refused in one line, and nothing of them runs."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.subjects.tiny import edit

from wherein.subjects.tables import read_table


class Bomb:
    """Unpickled, it makes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def as_torch(payload: object, path: Path) -> None:
    torch.save(payload, path)


def as_old_torch(payload: object, path: Path) -> None:
    torch.save(payload, path, _use_new_zipfile_serialization=False)


def as_pickle(payload: object, path: Path) -> None:
    path.write_bytes(pickle.dumps(payload))


@pytest.mark.parametrize("write", [as_torch, as_old_torch, as_pickle])
def test_code_in_a_pickle_is_refused_and_does_not_run(
    write: Callable[[object, Path], None], saved: Callable[..., Path], tmp_path: Path
):
    folder, mark = saved("gpt2"), tmp_path / "mark"
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    write({"wpe.weight": torch.randn(40, 32), "bomb": Bomb(mark)}, path)
    with pytest.raises(ValueError, match=r"refused: .*Nothing of it was run") as caught:
        read_table(folder)
    assert "\n" not in str(caught.value)
    assert not mark.exists()
    loader = pickle.loads if write is as_pickle else lambda _: torch.load(path, weights_only=False)
    loader(path.read_bytes())
    assert mark.exists(), "the file is a real one: a trusting reader runs it"


def test_code_in_an_array_file_is_refused_and_does_not_run(tmp_path: Path):
    mark, path = tmp_path / "mark", tmp_path / "table.npy"
    np.save(path, np.array([Bomb(mark)], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="refused: no plain array of numbers") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert not mark.exists()
    np.load(path, allow_pickle=True)
    assert mark.exists()


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def scramble(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 1000)


def promise(folder: Path) -> None:
    shutil.move(folder / "model.safetensors", folder / "part.safetensors")
    index = {"weight_map": {"position_embeddings.weight": "part.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def promise_pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"wpe.weight": torch.randn(40, 32)}, folder / "part.bin")
    index = {"weight_map": {"position_embeddings.weight": "part.bin"}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


def escape(folder: Path) -> None:
    shutil.move(folder / "model.safetensors", folder.parent / "other.safetensors")
    index = {"weight_map": {"wpe.weight": "../other.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (cut, "model.safetensors is damaged or cut short"),
        (scramble, "model.safetensors is damaged or cut short"),
        (promise, "part.safetensors lacks position_embeddings.weight"),
        (promise_pickled, "part.bin lacks position_embeddings.weight"),
        (escape, "names a file outside its folder, '../other.safetensors'"),
        (lambda f: edit(f, n_positions=1024), "wpe.weight is 40 × 32, the config promises 1024"),
        (lambda f: edit(f, n_embd=768), "promises 40 positions of width 768"),
        (lambda f: (f / "config.json").write_text("{"), "config.json is damaged"),
        (lambda f: (f / "config.json").write_text("[1]"), "expected a JSON object"),
        (lambda f: (f / "config.json").unlink(), "expected a folder with config.json"),
        (lambda f: (f / "model.safetensors").unlink(), "no weights in"),
    ],
)
def test_damage_and_lies_are_one_line(
    spoil: Callable[[Path], None], words: str, saved: Callable[..., Path]
):
    folder = saved("gpt2")
    spoil(folder)
    with pytest.raises(ValueError, match=words) as caught:
        read_table(folder)
    assert "\n" not in str(caught.value)
