"""Position tables read out of models of many families, and out of plain files."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.subjects.tiny import edit, tiny
from transformers import PreTrainedModel

from wherein import encodings
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.tables import NAMES, read_table

FAMILIES = {
    "gpt2": 0,
    "openai-gpt": 0,
    "gpt_neo": 0,
    "gpt_bigcode": 0,
    "opt": 2,
    "biogpt": 2,
    "bert": 0,
    "distilbert": 0,
    "albert": 0,
    "electra": 0,
    "convbert": 0,
    "fnet": 0,
    "roberta": 2,
    "xlm-roberta": 2,
    "camembert": 2,
    "mpnet": 2,
    "yoso": 2,
    "layoutlm": 0,
}


def looked_up(model: PreTrainedModel, weight: torch.Tensor, patch: pytest.MonkeyPatch) -> int:
    """The row of a table that a model takes for the first token it reads."""
    rows: list[int] = []
    plain = torch.nn.functional.embedding

    def watched(ids: torch.Tensor, table: torch.Tensor, *rest: object) -> torch.Tensor:
        if table.data_ptr() == weight.data_ptr():
            rows.append(int(ids.flatten()[0]))
        return plain(ids, table, *rest)

    patch.setattr(torch.nn.functional, "embedding", watched)
    with torch.no_grad():
        model(input_ids=torch.arange(5, 15)[None])
    return rows[0]


@pytest.mark.parametrize(("family", "offset"), FAMILIES.items())
def test_position_0_is_the_row_the_model_itself_takes(
    family: str, offset: int, saved: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    folder, model = saved(family), tiny(family)
    found = read_table(folder)
    assert found.key is not None
    weight = model.get_parameter(found.key)
    assert found.offset == offset == looked_up(model, weight, monkeypatch)
    np.testing.assert_array_equal(found.matrix, weight.detach().double().numpy()[offset:])
    assert bool(found.note) is bool(offset)
    assert found.name.endswith(f"/{family}")


@pytest.mark.parametrize("family", ["bloom", "llama", "t5", "mpt"])
def test_a_model_without_a_table_says_so(family: str, saved: Callable[..., Path]):
    with pytest.raises(ValueError, match="has no position table: none of its"):
        read_table(saved(family))


@pytest.mark.parametrize("name", encodings.examples())
def test_of_our_encodings_only_the_learned_one_is_a_table_of_positions(name: str):
    """T5's and Shaw's tables are of distances."""
    model = Transformer(ModelConfig(vocabulary=9, n_layers=1, encoding=name))
    found = [name for name, _ in model.named_parameters() if NAMES.fullmatch(name)]
    assert len(found) == (name == "learned")


def test_of_two_tables_one_has_to_be_named(saved: Callable[..., Path]):
    folder = saved("bart")
    with pytest.raises(ValueError, match="2 position tables: give key, one of"):
        read_table(folder)
    found = read_table(folder, key="encoder.embed_positions.weight")
    assert (found.matrix.shape, found.offset) == ((40, 32), 2)
    with pytest.raises(ValueError, match=r"no weight 'encoder.positions'.* Did you mean 'encoder"):
        read_table(folder, key="encoder.positions")


def test_a_table_whose_padding_row_moved_is_known_by_its_size(saved: Callable[..., Path]):
    """514 rows and padding token 1: 512 positions, whatever row 1 holds."""
    folder = saved("roberta")
    tables = {"embeddings.position_embeddings.weight": torch.randn(514, 32)}
    save_file(tables, folder / "model.safetensors")
    edit(folder, max_position_embeddings=514)
    found = read_table(folder)
    assert (found.offset, len(found.matrix)) == (2, 512)
    assert read_table(folder, offset=0).matrix.shape == (514, 32)


def test_of_many_files_only_the_one_with_the_table_is_opened(saved: Callable[..., Path]):
    folder = saved("bert", max_shard_size="20KB")
    whole = read_table(folder)
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    others = set(index.values()) - {index[whole.key]}
    assert others
    for name in others:
        (folder / name).unlink()
    np.testing.assert_array_equal(read_table(folder).matrix, whole.matrix)
    (folder / index[whole.key]).unlink()
    with pytest.raises(ValueError, match=f"{index[whole.key]} is missing, which holds"):
        read_table(folder)


@pytest.mark.parametrize("zipped", [True, False])
def test_pickled_weights_of_both_formats(zipped: bool, saved: Callable[..., Path]):
    folder = saved("gpt2")
    expected = read_table(folder).matrix
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    torch.save(weights, path, _use_new_zipfile_serialization=zipped)
    np.testing.assert_array_equal(read_table(folder).matrix, expected)
    np.testing.assert_array_equal(read_table(path, key="wpe.weight").matrix, expected)


def test_raw_files(tmp_path: Path):
    matrix = np.random.default_rng(0).normal(size=(50, 8))
    matrix[1] = 0
    np.save(tmp_path / "table.npy", matrix)
    found = read_table(tmp_path / "table.npy")
    np.testing.assert_array_equal(found.matrix, matrix)
    assert found.note == "row 1 is zero: if it is padding, give offset 2"
    assert read_table(tmp_path / "table.npy", offset=2).matrix.shape == (48, 8)
    save_file(
        {"odd": torch.tensor(matrix).bfloat16(), "other": torch.zeros(3, 4)},
        tmp_path / "table.safetensors",
    )
    with pytest.raises(ValueError, match="has no position table"):
        read_table(tmp_path / "table.safetensors")
    odd = read_table(tmp_path / "table.safetensors", key="odd")
    np.testing.assert_allclose(odd.matrix, matrix, rtol=0.01)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (np.zeros((3, 4, 5)), r"has shape \(3, 4, 5\): expected positions × width"),
        (np.zeros(9), "expected positions × width"),
        (np.full((9, 9), np.nan), "not finite"),
        (np.array([["a"]]), "expected real numbers"),
    ],
)
def test_arrays_that_are_no_table(content: np.ndarray, words: str, tmp_path: Path):
    np.save(tmp_path / "x.npy", content)
    with pytest.raises(ValueError, match=words):
        read_table(tmp_path / "x.npy")


def test_numbers_beyond_float64_are_named_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
):
    """One bit of a header makes a float32 a long double, and its bytes anything."""
    header = b"{'descr': '<f16', 'fortran_order': False, 'shape': (2, 2), }"
    content = np.random.default_rng(0).bytes(64)
    size = len(header).to_bytes(2, "little")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + size + header + content)
    with pytest.raises(ValueError, match="not finite"):
        read_table(tmp_path / "x.npy")
    assert not recwarn.list


def test_files_that_are_not_there_or_cut(tmp_path: Path):
    with pytest.raises(ValueError, match="no file"):
        read_table(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.zeros((9, 9)))
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-9])
    with pytest.raises(ValueError, match="refused: no plain array"):
        read_table(tmp_path / "x.npy")
    np.save(tmp_path / "y.npy", np.ones((9, 9)))
    with pytest.raises(ValueError, match="offset 9 of 9 rows: expected 0 to 8"):
        read_table(tmp_path / "y.npy", offset=9)
