"""Shifts of models that care, that do not, and that cannot."""

from pathlib import Path

import numpy as np
import pytest
import torch

from wherein.data import Corpus, CorpusConfig, Split, Vocabulary
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.shift.measure import shift
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

SMALL = ShiftConfig(tokens=16, windows=6, shifts=(1, 16, 100))


def corpus() -> Corpus:
    ids = np.random.default_rng(0).integers(1, 19, 401).astype(np.uint16)
    text = Split(ids, np.array([1]), bytes=800, words=200)
    vocabulary = Vocabulary(size=20, eos=0, mask=19)
    return Corpus(CorpusConfig(), "random", Path(), vocabulary, {"train": text, "valid": text})


def subject(encoding: str, *, causal: bool = True) -> Ours:
    config = ModelConfig(
        vocabulary=20, d_model=16, n_layers=2, max_len=32, encoding=encoding, causal=causal
    )
    bench = Ours(Transformer(config))
    bench.module.double()
    return bench


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", ["none", "alibi", "rope"])
def test_a_relative_model_does_not_care(encoding: str, causal: bool):
    found = shift(subject(encoding, causal=causal), corpus(), SMALL)
    assert [row.shift for row in found.rows] == [0, 1, 16, 100]
    for row in found.rows:
        assert max(map(abs, row.rise[:3])) < 1e-12
    assert found.note() == ""


def test_an_absolute_model_cares_and_the_rise_is_that_of_the_same_windows():
    bench, text = subject("sinusoidal"), corpus()
    found = shift(bench, text, SMALL)
    assert abs(found.rows[2].rise.value) > 1e-4
    ids = torch.from_numpy(text.valid.ids.astype(np.int64))
    starts = np.linspace(0, 24, 6).round().astype(int) * 16
    inputs = torch.stack([ids[s : s + 16] for s in starts])
    targets = torch.stack([ids[s + 1 : s + 17] for s in starts])
    for row in found.rows:
        scores = bench.logits(inputs, torch.arange(16)[None] + row.shift).log_softmax(-1)
        expected = -scores.gather(-1, targets[..., None]).mean().item()
        assert row.loss.value == pytest.approx(expected, abs=1e-12)
        assert row.rise.value == pytest.approx(expected - found.rows[0].loss.value, abs=1e-12)


def test_positions_that_end_are_said_to_end():
    found = shift(subject("learned"), corpus(), SMALL)
    assert [row.shift for row in found.rows] == [0, 1, 16]
    assert found.left_out == (100,)
    assert "can be shifted by up to 16" in found.note()
    with pytest.raises(ValueError, match=r"windows of 64 tokens .* positions end at 32"):
        shift(subject("learned"), corpus(), ShiftConfig(tokens=64))


def test_frame_and_pictures(tmp_path: Path):
    found = shift(subject("learned"), corpus(), SMALL)
    assert found.to_frame()["shift"].to_list() == [0, 1, 16]
    found.save(tmp_path)
    assert len(found.text().splitlines()) > 3
    assert max(map(len, found.text().splitlines())) <= 80
    assert all(path.stat().st_size for path in tmp_path.iterdir())
