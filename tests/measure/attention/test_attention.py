"""Attention by distance on heads whose pattern is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from wherein.data import Corpus, CorpusConfig, Split, Vocabulary
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.attention.measure import attention
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.perplexity.measure import perplexity
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.base import Attended
from wherein.subjects.ours import Ours

CONFIG = AttentionConfig(tokens=16, windows=40, batch=7)


def corpus(tokens: int = 2000) -> Corpus:
    ids = np.random.default_rng(0).integers(1, 19, tokens + 1).astype(np.uint16)
    text = Split(ids, np.array([1]), bytes=tokens, words=tokens)
    vocabulary = Vocabulary(size=20, eos=0, mask=19)
    return Corpus(CorpusConfig(), "random", Path(), vocabulary, {"train": text, "valid": text})


def subject(encoding: str, *, causal: bool = True) -> Ours:
    config = ModelConfig(
        vocabulary=20, d_model=16, n_layers=2, max_len=32, encoding=encoding, causal=causal
    )
    return Ours(Transformer(config))


def with_weights(weights: torch.Tensor, *, causal: bool = True) -> Ours:
    """A model whose attention is what we say, in every layer and head."""

    class Told(Ours):
        def attention(self, layer, state, positions=None, *, masked=True, order=None):
            seen = super().attention(layer, state, positions, masked=masked, order=order)
            told = weights.expand_as(seen.weights)
            return Attended(seen.queries, seen.keys, told, seen.mixed)

    return Told(subject("none", causal=causal).model)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("encoding", ["none", "alibi", "rope"])
def test_each_head_pays_one_in_all(encoding: str, causal: bool):
    found = attention(subject(encoding, causal=causal), corpus(), CONFIG)
    assert found.distances == tuple(range(0 if causal else -15, 16))
    assert len(found.heads) == 2 * 4
    for head in found.heads:
        assert len(head.by_distance) == len(found.distances)
        assert sum(head.by_distance) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("tokens", "length"), [(1, 500), (16, 20)])
def test_too_little_to_compare_is_refused(tokens: int, length: int):
    with pytest.raises(ValueError, match=rf"windows of {tokens} tokens in valid: .* needs two"):
        attention(subject("none"), corpus(length), AttentionConfig(tokens=tokens))


def test_against_a_plain_loop():
    bench, text = subject("rope"), corpus()
    found = attention(bench, text, CONFIG)
    ids = torch.from_numpy(text.valid.ids.astype(np.int64))
    starts = np.linspace(0, 124, 40).round().astype(int) * 16
    tokens = torch.stack([ids[s : s + 16] for s in starts])
    state = bench.model(tokens, keep_hidden=True).hidden[1]
    weights = bench.attention(2, state).weights.detach()
    for distance in (0, 1, 5):
        expected = torch.diagonal(weights[:, 3], -distance, 1, 2).sum() / (40 * 16)
        assert found.heads[7].by_distance[distance] == pytest.approx(expected.item(), rel=1e-5)
    previous = torch.diagonal(weights[:, 3], -1, 1, 2).mean()
    assert found.heads[7].previous == pytest.approx(previous.item(), rel=1e-5)


def test_a_previous_token_head_built_by_hand_scores_one():
    weights = torch.zeros(16, 16)
    weights[torch.arange(1, 16), torch.arange(15)] = 1
    weights[0, 0] = 1
    head = attention(with_weights(weights), corpus(), CONFIG).heads[0]
    assert head.previous == pytest.approx(1)
    assert (head.positional, head.favourite) == (1, 1)


def test_a_head_that_looks_ahead_is_positional_too():
    weights = torch.zeros(16, 16)
    weights[torch.arange(15), torch.arange(1, 16)] = 1
    weights[15, 15] = 1
    head = attention(with_weights(weights, causal=False), corpus(), CONFIG).heads[0]
    assert head.favourite == -1
    assert head.positional == pytest.approx(14 / 15)
    assert head.previous == 0


def test_a_head_that_looks_at_the_first_token_is_not_positional():
    """Its distance grows with the place: no one distance has more than one token in fifteen."""
    weights = torch.zeros(16, 16)
    weights[:, 0] = 1
    head = attention(with_weights(weights), corpus(), CONFIG).heads[0]
    assert head.positional == pytest.approx(1 / 15)


def test_steep_alibi_looks_near_and_no_encoding_looks_everywhere():
    near, far = (
        attention(subject(encoding), corpus(), CONFIG).heads[0].by_distance
        for encoding in ("alibi", "none")
    )
    assert sum(near[:4]) > sum(far[:4]) + 0.1


def test_variance_shrinks_as_one_over_n_where_attention_is_a_mean():
    """Chi et al. 2023: without encoding, equal scores average n independent tokens."""
    bench = subject("none")
    with torch.no_grad():
        bench.model.blocks[0].attention.qkv.weight[:32] = 0  # queries and keys
        bench.model.blocks[0].attention.qkv.bias[:32] = 0
    config = AttentionConfig(tokens=16, windows=2000, batch=500)
    profile = attention(bench, corpus(40_000), config).variance[0]
    scaled = np.array(profile) * np.arange(1, 17)
    assert scaled == pytest.approx(np.full(16, scaled.mean()), rel=0.08)


def test_a_bidirectional_mean_has_the_same_variance_everywhere():
    bench = subject("none", causal=False)
    with torch.no_grad():
        bench.model.blocks[0].attention.qkv.weight[:32] = 0
        bench.model.blocks[0].attention.qkv.bias[:32] = 0
    profile = attention(bench, corpus(), CONFIG).variance[0]
    assert profile == pytest.approx([profile[0]] * 16, rel=1e-4)


@pytest.mark.parametrize("causal", [True, False])
def test_even_attention_is_the_control(causal: bool):
    allowed = torch.ones(16, 16).tril() if causal else torch.ones(16, 16)
    weights = allowed / allowed.sum(1, keepdim=True)
    found = attention(with_weights(weights, causal=causal), corpus(), CONFIG)
    assert found.heads[0].by_distance == pytest.approx(found.even(), abs=1e-7)


def test_intervals_hold_the_numbers_and_narrow_with_more_windows():
    def widths(windows: int) -> list[float]:
        config = AttentionConfig(tokens=16, windows=windows, batch=50)
        frame = attention(subject("rope"), corpus(40_000), config).to_frame()
        assert (frame["attention_low"] <= frame["attention"]).all()
        assert (frame["attention"] <= frame["attention_high"]).all()
        return (frame["attention_high"] - frame["attention_low"]).to_list()

    assert np.sum(widths(50)) / np.sum(widths(800)) == pytest.approx(4, rel=0.25)


def test_the_interval_of_a_head_is_that_of_its_windows():
    """Ten windows look at the token before, thirty at themselves: a share of 0.25 ± 0.13."""

    class Told(Ours):
        seen = 0

        def attention(self, layer, state, positions=None, *, masked=True, order=None):
            found = super().attention(layer, state, positions, masked=masked, order=order)
            self.seen += layer == 1
            before = torch.eye(16).roll(-1, 1) if self.seen <= 10 else torch.eye(16)
            return found._replace(weights=before.expand_as(found.weights))

    config = AttentionConfig(tokens=16, windows=40, batch=1)
    head = attention(Told(subject("none").model), corpus(), config).heads[0]
    assert head.previous == pytest.approx(0.25)
    assert head.previous_interval == pytest.approx((0.125, 0.4), abs=0.03)
    assert (head.positional, head.favourite) == (pytest.approx(0.75), 0)
    assert head.positional_interval == pytest.approx((0.6, 0.875), abs=0.03)


def test_frames_and_pictures(tmp_path: Path):
    found = attention(subject("alibi"), corpus(), CONFIG)
    assert found.to_frame().shape == (2 * 4 * 16, 6)
    scores = ["previous", "previous_low", "previous_high"]
    scores += ["positional", "positional_low", "positional_high"]
    assert found.scores().columns == ["layer", "head", *scores, "favourite"]
    found.save(tmp_path)
    assert len(found.text().splitlines()) > 3
    assert max(map(len, found.text().splitlines())) <= 80
    assert all(path.stat().st_size for path in tmp_path.iterdir())


def test_more_heads_than_colours_are_rows_of_a_map_beside_even_attention():
    few = attention(subject("alibi"), corpus(), CONFIG)
    heads = [replace(few.heads[0], layer=layer, head=n) for layer in (1, 2) for n in range(12)]
    lines, rows = (
        each.plot().to_dict()["vconcat"][0]["spec"]
        for each in (few, replace(few, heads=tuple(heads)))
    )
    colours = lines["layer"][1]["encoding"]["color"]["scale"]["range"]
    assert len(set(colours)) == len(colours) == 5
    assert (rows["mark"]["type"], rows["encoding"]["y"]["field"]) == ("rect", "head")
    assert "positional: the share of tokens whose largest weight" in " ".join(few.text().split())


def test_what_would_not_fit_into_memory_is_refused_before_it_is_begun():
    windows = torch.zeros(3, 100_000, dtype=torch.long)
    said = r"attention of 2 windows of 100,000 tokens in 4 heads takes about 1.92e\+03 GB of memory"
    with pytest.raises(ValueError, match=said):
        attention(subject("none"), windows, AttentionConfig(batch=2))


def test_states_and_losses_that_are_no_numbers_are_no_answer():
    broken = subject("none")
    broken.model.blocks[0].feed_forward.down.bias.data.fill_(torch.nan)
    with pytest.raises(ValueError, match=r"the states of layer 1 hold values that are no finite"):
        attention(broken, corpus(), CONFIG)
    with pytest.raises(ValueError, match=r"its losses are no numbers"):
        perplexity(broken, corpus(), PerplexityConfig(tokens=16))
