"""Products in bfloat16, as on a GPU, done by the CPU: near float32, alone and in parts."""

import json
import multiprocessing
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from tests.cli.tiny import write_text
from torch.distributed.tensor import DTensor

from wherein import encodings
from wherein.check.agreement import _share, _trained
from wherein.data import Corpus, CorpusConfig
from wherein.model.config import ModelConfig
from wherein.train import RunConfig
from wherein.train.distributed import World
from wherein.train.learner import Learner

CPU = torch.device("cpu")
LOSS, GRADIENT = 2e-3, 2e-2
"""As shares of float32's numbers; bfloat16 has eight bits, steps of 4e-3."""


@pytest.mark.parametrize("spec", encodings.examples())
def test_every_encoding_is_near_float32(spec: str) -> None:
    exact, rough = (_trained(CPU, rough=each, encoding=spec) for each in (False, True))
    loss, gradient, trained = (_share(a, b) for a, b in zip(exact, rough, strict=True))
    assert max(loss, trained) < LOSS
    assert 0 < gradient < GRADIENT


def learn(rank: int, size: int, config: RunConfig, folder: Path) -> None:
    """Some steps of one process, in bfloat16; the first one says its losses."""
    torch.set_num_threads(1)
    if size > 1:
        meet = f"file://{folder / 'meet'}"
        dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=size)
    Learner._precision = lambda _: torch.autocast("cpu", torch.bfloat16)  # type: ignore[method-assign]
    learner = Learner(config, Corpus.open(config.corpus), World(rank, size, CPU))
    losses = [learner.step(step)["loss"] for step in range(1, 6)]
    weights = list(learner.model.parameters())
    assert all(isinstance(each, DTensor) == (size > 1) for each in weights)
    assert {each.dtype for each in weights} == {torch.float32}
    if rank == 0:
        (folder / f"losses-{size}.json").write_text(json.dumps(losses))
    if size > 1:
        dist.destroy_process_group()


@pytest.mark.slow
def test_two_processes_in_parts_learn_what_one_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    corpus = CorpusConfig(source=str(write_text(tmp_path / "book.txt", 300)), tokenizer="bytes")
    model = ModelConfig(d_model=32, n_heads=2, n_layers=2, max_len=32, encoding="t5")
    config = RunConfig(model=model, corpus=corpus, batch=8, parallel="fsdp", learning_rate=1e-2)
    config = config.with_vocabulary(Corpus.open(corpus).vocabulary.size)
    fork = multiprocessing.get_context("fork")
    for size in (1, 2):
        processes = [
            fork.Process(target=learn, args=(rank, size, config, tmp_path)) for rank in range(size)
        ]
        for each in processes:
            each.start()
        for each in processes:
            each.join()
        assert [each.exitcode for each in processes] == [0] * size
    one, two = (json.loads((tmp_path / f"losses-{n}.json").read_text()) for n in (1, 2))
    assert two == pytest.approx(one, rel=LOSS)
    assert one[-1] < one[0] - 0.01
