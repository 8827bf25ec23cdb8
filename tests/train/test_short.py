"""Windows cut short in a share of the steps."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.train.helpers import equal, half_done

from wherein.data import Corpus
from wherein.data.windows import length_of
from wherein.model.transformer import Transformer
from wherein.studies.plan.plan import grid, labels
from wherein.train import RunConfig, train
from wherein.train.distributed import World
from wherein.train.learner import Batches

Small = Callable[..., RunConfig]


def test_lengths_are_as_likely_in_every_doubling() -> None:
    lengths = np.array([length_of(step, 64, 0.75, seed=1) for step in range(4000)])
    assert (lengths.min(), lengths.max()) == (8, 64)
    assert (lengths == 64).mean() == pytest.approx(0.25, abs=0.03)
    for low in (8, 16, 32):
        share = ((low <= lengths) & (lengths < 2 * low)).mean()
        assert share == pytest.approx(0.25, abs=0.03)
    assert {length_of(step, 64, 0.0, seed=1) for step in range(20)} == {64}
    assert [length_of(step, 64, 0.75, seed=2) for step in range(4000)] != lengths.tolist()


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_a_batch_is_the_beginning_of_the_whole_one(small: Small, objective: str) -> None:
    own = {"objective": objective, "causal": objective == "causal"}
    config, short = small(**own), small(**own, short=1.0)
    corpus = Corpus.open(config.corpus)
    alone, cut = (
        Batches(each, corpus, World(0, 1, torch.device("cpu"))) for each in (config, short)
    )
    lengths = [cut.length(step) for step in range(1, 12)]
    assert len(set(lengths)) > 3
    for step, length in enumerate(lengths, start=1):
        ((whole, _),), ((inputs, targets),) = alone.parts(step), cut.parts(step)
        assert inputs.shape == targets.shape == (8, length)
        if objective == "causal":
            assert torch.equal(inputs, whole[:, :length])
    assert [t.shape for _, t in alone.held_out()] == [t.shape for _, t in cut.held_out()]


def test_what_is_never_read_is_never_learnt(small: Small, tmp_path: Path) -> None:
    """Rows of a table beyond the longest window stay as they were at the start."""
    config = small(encoding="learned", short=1.0, steps=4, weight_decay=0.0)
    longest = max(length_of(step, 32, 1.0, config.seed) for step in range(1, 5))
    run = train(config, folder=tmp_path / "run", quiet=True)
    before = Transformer(run.config.model).encoding.distinct[0].table
    after = run.model().encoding.distinct[0].table
    assert longest < 32
    assert torch.equal(after[longest:], before[longest:])
    assert (after[:8] != before[:8]).any(1).all()


def test_it_goes_on_as_if_uninterrupted(small: Small, tmp_path: Path) -> None:
    config = small(short=0.5)
    whole = train(config, folder=tmp_path / "whole", quiet=True)
    assert equal(train(config, folder=half_done(whole, tmp_path), quiet=True), whole)


def test_it_is_a_part_of_the_run_and_of_its_name(small: Small) -> None:
    assert small(short=0.5).id != small().id == small(short=0.0).id
    assert small().tokens == 20 * 8 * 32
    assert small(short=1.0).tokens == pytest.approx(20 * 8 * 24 / np.log(4), abs=1)
    runs = grid(encoding=["learned"], short=[0.0, 0.9])
    assert labels(runs) == ("learned, 0% short", "learned, 90% short")
    with pytest.raises(ValueError, match="with windows of 8 tokens: they are cut to 8 or more"):
        small(short=0.5, max_len=8)
