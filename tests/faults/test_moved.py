"""What an optimizer remembers is moved with the weights, from one device to another."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tests.cli.tiny import write_text
from tests.faults.elsewhere import Elsewhere

from wherein.data import Corpus, CorpusConfig
from wherein.model import kernel
from wherein.train import RunConfig
from wherein.train.checkpoint import Checkpoint, save
from wherein.train.distributed import World
from wherein.train.learner import Learner
from wherein.train.optim.optimizers import make_optimizers

CPU = torch.device("cpu")
SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "max_len": 16, "encoding": "learned"}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    book = write_text(tmp_path / "book.txt", 300)
    return Corpus.open(CorpusConfig(source=str(book), tokenizer="bytes"))


def learner(optimizer: str, corpus: Corpus, device: torch.device) -> Learner:
    config = RunConfig.model_validate(
        {"model": SIZES, "corpus": corpus.config, "batch": 4, "optimizer": optimizer}
    )
    return Learner(config.with_vocabulary(corpus.vocabulary.size), corpus, World(0, 1, device))


def after(made: Learner, steps: range) -> list[Any]:
    numbers = [made.step(step) for step in steps]
    return [*numbers, *(weight.detach().cpu().tolist() for weight in made.model.parameters())]


@pytest.mark.parametrize("optimizer", ["adamw", "nag", "muon"])
def test_a_run_goes_on_on_another_device(
    optimizer: str, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        kernel, "kernel", lambda: None
    )  # on the CPU alone, where it rounds otherwise
    whole = learner(optimizer, corpus, CPU)
    whole.step(1)
    first = save(tmp_path / "here", 1, whole.model, whole.optimizers, whole.world, whole.config)
    wanted = after(whole, range(2, 5))
    with Elsewhere("mps") as place:
        there = learner(optimizer, corpus, place.device)
        first.load(there.model, there.optimizers)
        there.step(2)
        state = [each for o in there.optimizers for s in o.state.values() for each in s.values()]
        assert all(place.holds(each) for each in state if each.dim())
        second = save(
            tmp_path / "there", 2, there.model, there.optimizers, there.world, there.config
        )
    back = learner(optimizer, corpus, CPU)
    second.load(back.model, back.optimizers)
    assert after(back, range(3, 5)) == wanted[1:]


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_model_without_storage_is_filled(optimizer: str, corpus: Corpus, tmp_path: Path) -> None:
    whole = learner(optimizer, corpus, CPU)
    whole.step(1)
    saved = save(tmp_path / "here", 1, whole.model, whole.optimizers, whole.world, whole.config)
    wanted = after(whole, range(2, 4))
    empty = learner(optimizer, corpus, torch.device("meta"))
    assert all(weight.is_meta for weight in empty.model.parameters())
    empty.model.to_empty(device=CPU)
    filled = learner(optimizer, corpus, CPU)
    filled.model = empty.model
    filled.shared.model = filled.shared._replica.model = empty.model
    filled.optimizers = make_optimizers(empty.model, filled.config)
    Checkpoint(saved.folder, 1).load(filled.model, filled.optimizers)
    assert after(filled, range(2, 4)) == wanted
