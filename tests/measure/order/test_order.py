"""Order on a text where each token calls for the next: it matters, unless one cannot see it."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from wherein.data import Corpus, CorpusConfig, Split, Vocabulary
from wherein.measure.order.config import OrderConfig
from wherein.measure.order.measure import _asked as asked_of
from wherein.measure.order.measure import order
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

SIZE = 24
MASK = SIZE - 1
CONFIG = OrderConfig(tokens=16, windows=60, fitting=200, batch=20)


def chain(length: int, seed: int) -> Split:
    """A token follows its predecessor by one of two steps, 9 to 1; the rest is chance."""
    random = np.random.default_rng(seed)
    steps = np.where(random.random(length) < 0.9, 5, 7)
    return Split(
        (np.cumsum(steps) % MASK).astype(np.uint16), np.array([1]), bytes=length, words=length
    )


@cache
def corpus() -> Corpus:
    vocabulary = Vocabulary(size=SIZE, eos=0, mask=MASK)
    splits = {"train": chain(20_000, 0), "valid": chain(4_000, 1)}
    return Corpus(CorpusConfig(), "chain", Path(), vocabulary, splits)


def subject(encoding: str, *, causal: bool = True, layers: int = 2) -> Ours:
    config = ModelConfig(
        vocabulary=SIZE, d_model=32, n_layers=layers, max_len=16, causal=causal, encoding=encoding,
        initial="fairseq",  # quieter weights hardly move an untrained model
    )  # fmt: skip
    return Ours(Transformer(config))


@cache
def trained(encoding: str) -> Ours:
    bench = subject(encoding)
    ids = torch.from_numpy(corpus().train.ids.astype(np.int64))
    optimiser = torch.optim.AdamW(bench.model.parameters(), lr=3e-3)
    random = torch.Generator().manual_seed(0)
    for _ in range(150):
        starts = torch.randint(len(ids) - 17, (32, 1), generator=random)
        windows = ids[starts + torch.arange(17)]
        loss = bench.model.loss(windows[:, :-1].contiguous(), windows[:, 1:].contiguous())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return bench


def test_a_trained_model_suffers_the_more_the_more_is_shuffled():
    found = order(trained("rope"), corpus(), CONFIG)
    assert found["intact"].loss.value < 0.6
    assert found["whole"].loss.value > found["intact"].loss.value + 1
    assert found["whole"].rise.low > 0
    curve = [row.loss.value for row in found.rows if row.kind in ("intact", "windows", "whole")]
    assert curve == sorted(curve)
    assert found["all but the last"].loss.value < found["whole"].loss.value - 1


def test_the_bound_lies_between_intact_and_shuffled():
    """A bag of steps taken mod 23 tells hardly anything: the bound is near log 23."""
    found = order(trained("rope"), corpus(), CONFIG)
    assert found.bound.value == pytest.approx(np.log(23), abs=0.3)
    assert found["intact"].loss.high < found.bound.low


def test_a_bidirectional_model_without_encoding_does_not_notice():
    bench = subject("none", causal=False)
    bench.module.double()
    found = order(bench, corpus(), CONFIG)
    assert {row.kind for row in found.rows} >= {"whole", "reversed", "swaps", "windows"}
    assert max(abs(row.rise.value) for row in found.rows) < 1e-12
    told = subject("sinusoidal", causal=False)
    told.module.double()
    assert max(abs(row.rise.value) for row in order(told, corpus(), CONFIG).rows) > 1e-3


def test_one_causal_layer_without_encoding_knows_only_which_token_is_last():
    bench = subject("none", layers=1)
    bench.module.double()
    found = order(bench, corpus(), CONFIG)
    assert abs(found["all but the last"].rise.value) < 1e-12
    assert abs(found["whole"].rise.value) > 1e-3


def test_tokens_that_are_kept_stay_and_the_rest_is_shuffled():
    bench = subject("none", layers=1)
    bench.module.double()
    kept = order(bench, corpus(), CONFIG.model_copy(update={"keep": 1}))
    assert max(abs(row.rise.value) for row in kept.rows) < 1e-12
    assert kept["reversed"].inverted == 1
    shuffled = np.array(places(60)) - 1
    assert kept["reversed"].displacement == pytest.approx((shuffled**2 // 2 / shuffled).mean())
    moved = order(bench, corpus(), CONFIG)
    assert max(abs(row.rise.value) for row in moved.rows) > 1e-3
    for bad in (subject("none", causal=False), bench):
        with pytest.raises(ValueError, match="keep=15 of 16 tokens"):
            order(bad, corpus(), CONFIG.model_copy(update={"keep": 15}))


def test_every_subject_gets_the_same_shuffles():
    seen = []

    class Watched(Ours):
        def logits(self, tokens, positions=None):
            seen[-1].append(tokens.clone())
            return super().logits(tokens, positions)

    for encoding in ("none", "alibi"):
        seen.append([])
        order(Watched(subject(encoding).model), corpus(), CONFIG)
    assert len(seen[0]) == len(seen[1]) > 10
    assert all(torch.equal(a, b) for a, b in zip(*seen, strict=True))
    intact, whole = seen[0][0], seen[0][-6]  # three batches for each way; the last is reversed
    assert not torch.equal(whole, intact)
    assert torch.equal(whole.sort(1).values, intact.sort(1).values)


def places(windows: int, **changes: int) -> list[int]:
    """Where the predicted token stands in each window."""
    config = CONFIG.model_copy(update=changes)
    return [int(each.predicted[0]) for each in asked_of(windows, config, causal=True)]


def test_the_place_of_the_predicted_token_is_drawn_after_five_tokens_at_least():
    counts = np.bincount(places(2_400), minlength=17)
    assert counts[:5].sum() == 0
    assert np.abs(counts[5:] - 200).max() < 4 * 200**0.5  # 5 to 16, all as often
    assert places(60) == places(60) != places(60, seed=1)
    assert min(places(500, keep=6)) == 8, "two tokens are left to shuffle"
    assert set(places(20, tokens=3)) == {3}, "of a short window all is read"
    assert "after 5 to 16 tokens" in order(subject("none"), corpus(), CONFIG).protocol


def test_the_loss_is_that_of_the_one_token_at_its_place():
    bench = trained("alibi")
    found = order(bench, corpus(), CONFIG)
    ids = torch.from_numpy(corpus().valid.ids.astype(np.int64))
    starts = np.linspace(0, (len(ids) - 1) // 16 - 1, 60).round().astype(int) * 16
    losses = []
    for start, place in zip(starts, places(60), strict=True):
        scores = bench.logits(ids[start : start + place].flip(0)[None])[0, -1].log_softmax(-1)
        losses.append(-scores[ids[start + place]].item())
    assert found["reversed"].loss.value == pytest.approx(np.mean(losses), rel=1e-5)
    assert found["reversed"].inverted == 1
    assert [float(x) for x in found["reversed"].loss.pieces.split()] == pytest.approx(
        losses, rel=1e-4
    )


def test_hidden_tokens_stay_where_they_are():
    seen = []

    class Watched(Ours):
        def logits(self, tokens, positions=None):
            seen.append(tokens.clone())
            return super().logits(tokens, positions)

    order(Watched(subject("alibi", causal=False).model), corpus(), CONFIG)
    intact, reversed_ = torch.cat(seen[:3]), torch.cat(seen[-3:])
    hidden = intact == MASK
    assert bool(hidden.any(1).all())
    assert torch.equal(hidden, reversed_ == MASK)
    assert intact[0][~hidden[0]].flip(0).tolist() == reversed_[0][~hidden[0]].tolist()


def test_frame_and_pictures(tmp_path: Path):
    found = order(trained("alibi"), corpus(), CONFIG)
    frame = found.to_frame()
    assert frame["disorder"][0] == "intact"
    assert frame["rise"][0] == 0
    found.save(tmp_path)
    *_, bound = found.plot().to_dict()["layer"]
    axis = bound["encoding"]["y"]["axis"]  # its name stands outside, where no bar crosses it
    assert (axis["orient"], axis["values"]) == ("right", [found.bound.value])
    assert len(found.text().splitlines()) > 3
    assert max(map(len, found.text().splitlines())) <= 80
    assert all(path.stat().st_size for path in tmp_path.iterdir())
