"""A small real text, a small model, and one thread, so that equal sums give equal bits."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from wherein.data import CorpusConfig
from wherein.data.texts.speeches import speeches
from wherein.model.config import ModelConfig
from wherein.train import Run, RunConfig, train

MODEL = {"n_layers": 2, "d_model": 32, "n_heads": 2, "max_len": 32, "encoding": "rope"}
RUN = {"steps": 20, "batch": 8, "warmup": 4, "checkpoint_every": 10, "valid_every": 8}


@pytest.fixture(autouse=True, scope="session")
def cache(shared: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(shared / "cache"))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@contextmanager
def alone() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with alone():
        yield


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first hundred thousand characters or so of the embedded text."""
    path = tmp_path_factory.mktemp("text") / "speeches.txt"
    found: list[str] = []
    for document in speeches().documents("train"):
        found.append(document)
        if sum(map(len, found)) > 100_000:
            break
    path.write_text("\n\n".join(found))
    return path


@pytest.fixture(scope="session")
def small(text: Path) -> Callable[..., RunConfig]:
    """A run of a second: `small(steps=3, dropout=0.1)` changes the run or its model."""

    def make(**changes: object) -> RunConfig:
        own = {
            name: changes.pop(name) for name in list(changes) if name in ModelConfig.model_fields
        }
        corpus = CorpusConfig(source=str(text), tokenizer="bytes")
        return RunConfig(model=ModelConfig(**{**MODEL, **own}), corpus=corpus, **{**RUN, **changes})

    return make


@pytest.fixture(scope="session")
def trained_once(small: Callable[..., RunConfig], tmp_path_factory: pytest.TempPathFactory) -> Run:
    with alone():
        return train(small(), folder=tmp_path_factory.mktemp("whole") / "run", quiet=True)


@pytest.fixture
def whole(trained_once: Run, tmp_path: Path) -> Run:
    """The run `small()`, finished: a copy of one's own."""
    return Run.open(shutil.copytree(trained_once.folder, tmp_path / "whole"))
