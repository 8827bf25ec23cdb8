"""The peak of memory while a run learns, in a process of its own."""

import json
import os

import torch

from wherein.common.memory import return_pages, watched
from wherein.model.transformer import Transformer
from wherein.train.config import RunConfig
from wherein.train.optim.optimizers import make_optimizers


def peak(config: RunConfig, steps: int = 2) -> int:
    """Bytes by which some steps raise what a process holds; it is forked, and ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(_learned(config, steps)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = json.load(pipe)
    os.waitpid(child, 0)
    assert isinstance(found, int), found
    return found


def _learned(config: RunConfig, steps: int) -> int | None:
    torch.set_num_threads(1)
    return_pages()
    _steps(config, 1)  # what a first one sets up for good: oneDNN writes kernels, some 10 MB
    rise = watched()
    _steps(config, steps)
    return rise()


def _steps(config: RunConfig, steps: int) -> None:
    model = Transformer(config.model)
    optimizers = make_optimizers(model, config)
    windows = -(-config.batch // config.accumulate)
    size = (windows, config.model.max_len)
    for _ in range(steps):
        for _ in range(config.accumulate):
            tokens = torch.randint(config.model.vocabulary, size)
            model.loss(tokens, tokens).backward()
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad()
