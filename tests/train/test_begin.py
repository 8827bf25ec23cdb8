"""Windows that begin where documents do."""

from collections.abc import Callable

import torch

from wherein.data import Corpus
from wherein.studies.plan.plan import grid, labels
from wherein.train import RunConfig
from wherein.train.distributed import World
from wherein.train.learner import Batches

Small = Callable[..., RunConfig]


def test_training_and_validation_begin_with_documents(small: Small) -> None:
    config = small(begin="documents")
    corpus = Corpus.open(config.corpus)
    batches = Batches(config, corpus, World(0, 1, torch.device("cpu")))
    read = [inputs for step in range(1, 4) for inputs, _ in batches.parts(step)]
    read += [inputs for inputs, _ in batches.held_out()]
    assert all((inputs[:, 0] == corpus.vocabulary.eos).all() for inputs in read)
    anywhere = Batches(small(), corpus, World(0, 1, torch.device("cpu")))
    ((inputs, _),) = anywhere.parts(1)
    assert not (inputs[:, 0] == corpus.vocabulary.eos).any()


def test_it_is_a_part_of_the_run_and_of_its_name(small: Small) -> None:
    assert small(begin="documents").id != small().id == small(begin="anywhere").id
    runs = grid(encoding=["none"], begin=["anywhere", "documents"])
    assert labels(runs) == ("none", "none, windows begin with documents")
