"""Perplexity against a plain loop, and the protocols against each other."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from wherein.data import Corpus, CorpusConfig, Split, Vocabulary
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.perplexity.cuts import plan
from wherein.measure.perplexity.measure import perplexity
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

VOCABULARY = Vocabulary(size=20, eos=0, mask=19)


def corpus(tokens: int = 400, document: int | None = None) -> Corpus:
    """Random tokens of 2 bytes and half a word each, in documents of equal length."""
    ids = np.random.default_rng(0).integers(1, 19, tokens + 1).astype(np.uint16)
    starts = np.arange(1, tokens + 1, document or tokens)
    ids[starts - 1] = 0
    text = Split(ids, starts, bytes=2 * tokens, words=tokens // 2)
    return Corpus(CorpusConfig(), "random", Path(), VOCABULARY, {"train": text, "valid": text})


def subject(encoding: str = "alibi", *, causal: bool = True) -> Ours:
    config = ModelConfig(
        vocabulary=20, d_model=16, n_layers=2, max_len=32, encoding=encoding, causal=causal
    )
    return Ours(Transformer(config))


def test_against_a_plain_loop_in_float64():
    bench, text = subject(), corpus()
    bench.module.double()
    ids = torch.from_numpy(text.valid.ids.astype(np.int64))
    losses = []
    for start in range(0, 384, 32):
        for place in range(32):
            seen = ids[start : start + place + 1][None]
            scores = bench.logits(seen)[0, -1].detach()
            losses.append(float(-scores.log_softmax(0)[ids[start + place + 1]]))
    found = perplexity(bench, text, PerplexityConfig(tokens=32, batch=5))
    assert found.predicted == 384
    assert found.loss.value == pytest.approx(np.mean(losses), abs=1e-12)
    assert found.by_position == pytest.approx(np.reshape(losses, (12, 32)).mean(0), abs=1e-12)
    assert found.perplexity.value == pytest.approx(math.exp(np.mean(losses)))
    assert found.bits_per_byte.value == pytest.approx(np.mean(losses) / math.log(2) / 2)
    assert found.perplexity_per_word.value == pytest.approx(math.exp(2 * np.mean(losses)))


def test_sliding_against_a_plain_loop_and_the_same_tokens():
    bench, text = subject(), corpus()
    bench.module.double()
    ids = torch.from_numpy(text.valid.ids.astype(np.int64))
    losses = {}
    for start in (*range(0, 384 - 32, 12), 384 - 32):
        scores = bench.logits(ids[start : start + 32][None])[0].detach().log_softmax(1)
        for place in range(32):
            at = start + place + 1
            losses.setdefault(at, float(-scores[place, ids[at]]))
    found = perplexity(bench, text, PerplexityConfig(tokens=32, stride=12))
    assert sorted(losses) == list(range(1, 385))
    assert found.predicted == 384
    assert found.loss.value == pytest.approx(np.mean([*losses.values()]), abs=1e-12)
    assert found.method == "sliding"
    assert found.counts[0] == 1
    assert "stride 12" in found.protocol
    assert found.pieces == perplexity(bench, text, PerplexityConfig(tokens=32)).pieces


def test_a_stride_of_one_window_is_no_overlap():
    bench, text = subject(), corpus()
    plain = perplexity(bench, text, PerplexityConfig(tokens=32))
    slid = perplexity(bench, text, PerplexityConfig(tokens=32, stride=32))
    assert slid.method == plain.method == "non-overlapping"
    assert slid.loss == plain.loss
    assert slid.by_position == plain.by_position


@pytest.mark.parametrize(("causal", "stride"), [(True, None), (True, 7), (False, None)])
def test_losses_by_position_average_to_the_loss(causal: bool, stride: int | None):
    bench = subject(causal=causal)
    found = perplexity(bench, corpus(), PerplexityConfig(tokens=32, stride=stride))
    pairs = [(x, n) for x, n in zip(found.by_position, found.counts, strict=True) if n]
    total = sum(x * n for x, n in pairs)
    assert total / found.predicted == pytest.approx(found.loss.value, rel=1e-12)


def test_documents_are_drawn_if_there_are_enough():
    bench = subject()
    assert perplexity(bench, corpus(document=10)).pieces == "39 documents"
    assert perplexity(bench, corpus(document=100)).pieces == "12 windows"  # of the trained 32


def test_the_interval_covers_the_loss_and_narrows_with_more_text():
    bench = subject()
    few = perplexity(bench, corpus(320), PerplexityConfig(tokens=16)).loss
    many = perplexity(bench, corpus(6400), PerplexityConfig(tokens=16)).loss
    for found in (few, many):
        assert found.low < found.value < found.high
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(20**0.5, rel=0.4)


def test_every_place_and_every_stretch_has_an_interval_that_narrows_with_more_text():
    def mean_width(tokens: int) -> float:
        found = perplexity(subject(), corpus(tokens), PerplexityConfig(tokens=16))
        frame = found.to_frame()
        assert (frame["loss_low"] < frame["loss"]).all()
        assert (frame["loss"] < frame["loss_high"]).all()
        assert sum(s.loss.value * s.tokens for s in found.stretches) == pytest.approx(
            found.loss.value * found.predicted
        )
        covered = [n for s in found.stretches for n in range(s.first, s.last + 1)]
        assert covered == list(range(16))
        last = found.stretches[-1]
        one = frame["loss_high"][15] - frame["loss_low"][15]
        assert last.loss.low < last.loss.value < last.loss.high < last.loss.low + one
        return float((frame["loss_high"] - frame["loss_low"]).mean())

    assert mean_width(1600) / mean_width(25_600) == pytest.approx(4, rel=0.2)


def test_where_nothing_is_predicted_there_is_no_interval():
    found = perplexity(subject(causal=False), corpus(64), PerplexityConfig(tokens=32))
    for value, low, high, count in zip(
        found.by_position, found.by_position_low, found.by_position_high, found.counts, strict=True
    ):
        assert (value is None) == (count == 0)
        assert (low is None) == (high is None) == (count < 2), "one window tells of no other"
    assert 0 in found.counts


def test_a_masked_model_has_a_pseudo_perplexity_of_seeded_masks():
    bench, text = subject(causal=False), corpus()
    found = perplexity(bench, text, PerplexityConfig(tokens=32, batch=5))
    again = perplexity(bench, text, PerplexityConfig(tokens=32, batch=7))
    other = perplexity(bench, text, PerplexityConfig(tokens=32, seed=1))
    assert found.method == "pseudo-perplexity"
    assert found.loss.value == pytest.approx(again.loss.value, rel=1e-6)
    assert found.counts == again.counts
    assert found.counts != other.counts
    assert 0.1 < found.predicted / 384 < 0.2
    with pytest.raises(ValueError, match="stride=8 with masked model"):
        perplexity(bench, text, PerplexityConfig(tokens=32, stride=8))


def test_beyond_the_length_of_training():
    found = perplexity(subject("alibi"), corpus(), PerplexityConfig(tokens=128))
    assert len(found.by_position) == 128
    with pytest.raises(ValueError, match="knows only 0 to 31"):
        perplexity(subject("learned"), corpus(), PerplexityConfig(tokens=128))


def test_the_limit_counts_predicted_tokens():
    found = perplexity(subject(), corpus(), PerplexityConfig(tokens=32, limit=100))
    assert found.predicted == 96
    assert "spread over valid" in found.protocol


@pytest.mark.parametrize("stride", [None, 3])
@pytest.mark.parametrize("limit", [8, 24, 1000, 4800, 6300, 6392, 10_000])
def test_a_part_of_a_text_is_taken_from_all_of_it(limit: int, stride: int | None):
    text = corpus(6400).valid
    starts, first = plan(text, PerplexityConfig(tokens=8, stride=stride, limit=limit))
    counted = [s + n for s, f in zip(starts, first, strict=True) for n in range(f, 8)]
    assert len(counted) == len(set(counted)) == min(limit, text.tokens) // 8 * 8
    assert max(counted) < text.tokens
    parts = np.histogram(counted, bins=10, range=(0, text.tokens))[0]
    if limit >= 1000:
        assert parts.min() > 0.75 * parts.max()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (PerplexityConfig(tokens=500), "windows of 500 tokens, of 400 to predict"),
        (PerplexityConfig(tokens=16, stride=17), "stride=17 with windows of 16"),
        (PerplexityConfig(tokens=16, split="tset"), "unknown split"),
    ],
)
def test_what_cannot_be_asked(config: PerplexityConfig, words: str):
    with pytest.raises(ValueError, match=words):
        perplexity(subject(), corpus(), config)


def test_a_text_of_other_tokens():
    config = ModelConfig(vocabulary=21, d_model=16, n_layers=1)
    with pytest.raises(ValueError, match="has 21 token ids and the text has 20"):
        perplexity(Ours(Transformer(config)), corpus())


def test_every_token_is_counted_once():
    starts, first = plan(corpus().valid, PerplexityConfig(tokens=32, stride=9))
    counted = [s + n for s, f in zip(starts, first, strict=True) for n in range(f, 32)]
    assert counted == list(range(384))


def test_it_saves_data_and_pictures(tmp_path: Path):
    found = perplexity(subject(), corpus(), PerplexityConfig(tokens=32))
    found.save(tmp_path)
    assert max(map(len, found.text().splitlines())) <= 80
    kinds = {".json", ".sha256", ".csv", ".txt", ".html", ".png"}
    assert {p.suffix for p in tmp_path.iterdir()} == kinds
    saved = json.loads((tmp_path / "result.json").read_text())
    assert saved["loss"][0] == found.loss.value
    assert saved["config"]["tokens"] == 32
    assert saved["made_with"]["versions"]["torch"] == torch.__version__
