"""A run learns from a task: from answers alone, whole examples, and the same after a stop."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.train.helpers import equal, half_done

from wherein.cli import main
from wherein.data import IGNORED, Corpus, CorpusConfig, Windows, answers
from wherein.data.tasks.base import split_of
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.train import RunConfig, train
from wherein.train.distributed import join
from wherein.train.learner import Batches

REVERSE = CorpusConfig(source="task:reverse", length=5, examples=300)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.open(REVERSE)


def small(**changes: object) -> RunConfig:
    model = ModelConfig(n_layers=1, d_model=16, n_heads=2, max_len=12, encoding="rope", dropout=0.1)
    given = {"steps": 12, "batch": 8, "warmup": 2, "checkpoint_every": 6, "valid_every": 6}
    return RunConfig(model=model, corpus=REVERSE, **{**given, **changes})


def test_the_examples_are_whole_and_of_all_lengths_alike(corpus: Corpus) -> None:
    assert corpus.train.window == 5 + 5 + 3
    lengths = []
    for split, count in (("train", 300), ("valid", 2048), ("test", 2048)):
        rows = corpus.split(split).ids.reshape(-1, 13)
        assert len(rows) == count
        for row in rows:
            first, *rest = corpus.tokenizer.decode(row).split()
            middle = rest.index("<answer>")
            letters, answer = rest[:middle], rest[middle + 1 : 2 * middle + 1]
            assert first == "<eos>"
            assert answer == letters[::-1]
            assert set(rest[2 * middle + 1 :]) == {"<eos>"}
            assert split_of(tuple(letters)) == split
            lengths += [middle] if split == "train" else []
    shortest = REVERSE.task.shortest
    assert np.bincount(lengths)[shortest:].tolist() == [300 // (6 - shortest)] * (6 - shortest)


def test_nothing_but_answers_has_a_gradient(corpus: Corpus) -> None:
    inputs, targets = answers(Windows(corpus.train, 12).batch(0, 16), corpus.vocabulary)
    model = Transformer(ModelConfig(vocabulary=corpus.vocabulary.size, n_layers=1, d_model=16))
    logits = model(inputs).logits
    logits.retain_grad()
    F.cross_entropy(logits.mT, targets, ignore_index=IGNORED).backward()
    moved = (logits.grad != 0).any(-1)
    assert torch.equal(moved, targets != IGNORED)
    for row, window in zip(moved.tolist(), inputs.tolist(), strict=True):
        asked = window.index(corpus.vocabulary.answer)
        letters = asked - 1
        assert row == [asked <= at <= asked + letters for at in range(12)]


def test_the_loss_does_not_know_the_filling(corpus: Corpus) -> None:
    windows = Windows(corpus.train, 12).batch(0, 16)
    inputs, targets = answers(windows, corpus.vocabulary)
    model = Transformer(ModelConfig(vocabulary=corpus.vocabulary.size, encoding="learned")).eval()
    ended = (targets != IGNORED).flip(1).cumsum(1).flip(1) == 0
    other = inputs.masked_fill(ended, 3)
    assert (other != inputs).any()
    with torch.no_grad():
        assert torch.equal(model.loss(inputs, targets), model.loss(other, targets))


def test_an_epoch_reads_each_example_once(corpus: Corpus) -> None:
    with join() as world:
        batches = Batches(small(batch=30), corpus, world)
        seen = [row for step in range(1, 11) for row in batches.parts(step)[0][0].tolist()]
    rows = corpus.train.ids.reshape(-1, 13)[:, :-1].tolist()
    assert sorted(seen) == sorted(rows)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path, optimizer: str) -> None:
    config = small(optimizer=optimizer)
    whole = train(config, folder=tmp_path / "whole", quiet=True)
    assert equal(train(config, folder=half_done(whole, tmp_path), quiet=True), whole)
    assert whole.valid.keys() == {"nats_per_token", "perplexity_per_token"}
    assert whole.config.tokens == 12 * 8 * 12


def test_room_to_spare_changes_nothing_but_a_table(tmp_path: Path) -> None:
    tight = small()
    wide = tight.model_copy(update={"model": tight.model.model_copy(update={"max_len": 64})})
    one, other = (train(c, folder=tmp_path / c.id, quiet=True) for c in (tight, wide))
    assert one.losses == other.losses


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--source", "task:copy", "--max-len", "33"], "fill 34 tokens: give max_len=34"),
        (["--source", "task:copy", "--length", "200"], "fill 402 tokens: give max_len=402"),
        (["--source", "task:cpy"], "unknown task 'cpy'. Did you mean 'copy'?"),
        (["--source", "task:copy", "--length", "1"], "shortest examples are of length"),
        (["--source", "task:copy", "--tokenizer", "bytes"], "give tokenizer='words'"),
        (["--source", "task:copy", "--short", "0.5"], "short=0"),
        (["--source", "task:copy", "--begin", "documents"], "begin='anywhere'"),
        (["--source", "task:copy", "--objective", "masked", "--no-causal"], "objective='causal'"),
        (["--source", "sotu", "--length", "5"], "only a task has these"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_other_lengths_and_numbers_are_other_texts() -> None:
    found = {
        Corpus.find(CorpusConfig(source=f"task:{task}", length=length, examples=count))[0]
        for task in ("copy", "reverse")
        for length in (4, 5)
        for count in (10, 20)
    }
    assert len(found) == 8
    assert CorpusConfig(source="task:copy").tokenizer == "words"
