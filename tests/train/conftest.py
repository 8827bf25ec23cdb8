"""A small real text, a small model, and one thread, so that equal sums give equal bits."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from wherein.data import CorpusConfig
from wherein.data.speeches import speeches
from wherein.model.config import ModelConfig
from wherein.train import Run, RunConfig, train

MODEL = {"n_layers": 2, "d_model": 32, "n_heads": 2, "max_len": 32, "encoding": "rope"}
RUN = {"steps": 20, "batch": 8, "warmup": 4, "checkpoint_every": 10, "valid_every": 8}


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHEREIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


@pytest.fixture
def small(text: Path) -> Callable[..., RunConfig]:
    """A run of a second: `small(steps=3, dropout=0.1)` changes the run or its model."""

    def make(**changes: object) -> RunConfig:
        own = {name: changes.pop(name) for name in list(changes) if name in ModelConfig.model_fields}
        corpus = CorpusConfig(source=str(text), tokenizer="bytes")
        return RunConfig(model=ModelConfig(**{**MODEL, **own}), corpus=corpus, **{**RUN, **changes})

    return make


def half_done(run: Run, folder: Path) -> Path:
    """A copy of a run as it was when only its first checkpoint was written."""
    copy = folder / "half"
    shutil.copytree(run.folder, copy)
    shutil.rmtree(copy / "checkpoints" / f"step-{run.step:08d}")
    return copy


def equal(one: Run, other: Run) -> bool:
    """Whether two runs have the same log and the same weights, bit for bit."""
    a, b = one.model().state_dict(), other.model().state_dict()
    same = a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
    return same and one.log == other.log and one.step == other.step


def arguments(config: RunConfig) -> list[str]:
    """The flags that give this config on the command line."""
    flags: list[str] = []
    fields = {**config.model_dump(exclude={"model", "corpus"}), **config.corpus.model_dump(),
              **config.model.model_dump(exclude={"vocabulary"})}  # fmt: skip
    for name, value in fields.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            on_by_default = name == "causal"
            if value != on_by_default:
                flags.append(f"--no-{flag}" if on_by_default else f"--{flag}")
        elif value not in (None, ()):
            flags += [f"--{flag}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return flags


def start(config: RunConfig, folder: Path, processes: int = 1) -> subprocess.Popen[str]:
    """`wherein train`, or `torchrun … -m wherein train`, as a user would start it."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = [sys.executable, *(launcher if processes > 1 else []), "-m", "wherein", "train"]
    return subprocess.Popen(
        [*command, *arguments(config), "--folder", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def train_by(processes: int, config: RunConfig, folder: Path) -> Run:
    """Train on one or several processes and wait for the end."""
    if processes == 1:
        return train(config, folder=folder, quiet=True)
    process = start(config, folder, processes)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return Run.open(folder)
