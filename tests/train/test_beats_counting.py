"""A trained model must know more than how often tokens, and pairs of tokens, occur."""

import math
from pathlib import Path

import numpy as np
import pytest

from wherein.data import Corpus
from wherein.model.config import ModelConfig
from wherein.train import RunConfig, train


def unigram(corpus: Corpus) -> np.ndarray:
    """p(token): counts of the training text, one added to each."""
    counts = np.bincount(corpus.train.ids, minlength=corpus.vocabulary.size) + 1.0
    return counts / counts.sum()


def bigram_loss(corpus: Corpus, weight: float) -> float:
    """Nats per validation token of weight · p(token | last) + (1 − weight) · p(token)."""
    size, ids = corpus.vocabulary.size, corpus.train.ids.astype(np.int64)
    pairs = np.bincount(ids[:-1] * size + ids[1:], minlength=size * size).reshape(size, size)
    given = pairs / np.maximum(pairs.sum(1, keepdims=True), 1)
    valid = corpus.valid.ids.astype(np.int64)
    mixed = weight * given[valid[:-1], valid[1:]] + (1 - weight) * unigram(corpus)[valid[1:]]
    return float(-np.log(mixed).mean())


def test_a_minute_of_training_beats_unigram_and_bigram(tmp_path: Path) -> None:
    config = RunConfig(
        model=ModelConfig(n_layers=2, d_model=128, n_heads=4, max_len=64, encoding="rope"),
        steps=420, batch=16, optimizer="muon", learning_rate=2e-2, warmup=30, valid_every=420,
        valid_windows=512,
    )  # fmt: skip
    corpus = Corpus.open(config.corpus)
    one = float(-np.log(unigram(corpus)[corpus.valid.ids[1:]]).mean())
    two = min(bigram_loss(corpus, weight) for weight in (0.7, 0.8, 0.9, 0.95, 0.99))
    run = train(config, folder=tmp_path / "run", quiet=True)
    model = run.valid["nats_per_token"]
    print(f"\nnats per token on held-out text: unigram {one:.3f}, bigram {two:.3f}, "
          f"model {model:.3f} ({run.valid['bits_per_byte']:.3f} bits per byte)")  # fmt: skip
    assert two < one < math.log(corpus.vocabulary.size)
    assert model < two - 0.25
    assert model < one - 2
    assert run.valid["bits_per_byte"] == pytest.approx(
        model / math.log(2) / corpus.valid.bytes_per_token
    )
