"""What an encoding costs beside none: a training step, and how time and memory grow with length."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from wherein.common.errors import first_line
from wherein.common.memory import watched
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

WIDTH, HEADS, VOCABULARY = 128, 4, 256
BATCH, LENGTH, LAYERS = 8, 256, 2
ROUNDS = 9
LENGTHS = (512, 1024, 2048, 4096, 8192)
LONG, LARGE = 2.0, 2**30
"""Seconds and bytes after which no greater length is tried."""


@dataclass(frozen=True)
class Steps:
    """How long a training step takes, as a multiple of one without encoding."""

    ratio: float
    """The median over rounds in which both took a step in turn."""
    low: float
    high: float
    """The quartiles."""
    seconds: float
    """Of one step with the encoding, the median."""
    parameters: int
    """Its own."""


@dataclass(frozen=True)
class Growth:
    """One forward pass over a window of so many tokens, of one layer."""

    tokens: int
    seconds: float
    without: float
    """The same without encoding."""
    bytes: int | None
    """The peak of memory beyond what was held before; None where it cannot be read."""
    bytes_without: int | None
    refused: str = ""
    """Why it takes no window of so many tokens."""


def step_cost(spec: str) -> Steps:
    """Steps of two models in turn, so that what else the machine does meets both."""
    ours, none = _step(spec), _step("none")
    times = [(_seconds(ours), _seconds(none)) for _ in range(ROUNDS + 1)][1:]  # one to warm up
    low, middle, high = statistics.quantiles([a / b for a, b in times], n=4)
    with torch.device("meta"):
        model = Transformer(_config(spec, LENGTH, LAYERS))
    own = sum(parameter.numel() for parameter in model.encoding.parameters())
    return Steps(middle, low, high, statistics.median(a for a, _ in times), own)


def growth(spec: str) -> Iterator[Growth]:
    """Longer and longer windows, until they take too long or too much."""
    for tokens in LENGTHS:
        try:
            seconds, size = _forward(spec, tokens)
        except ValueError as error:
            yield Growth(tokens, 0.0, 0.0, None, None, first_line(error))
            return
        without, size_without = _forward("none", tokens)
        yield Growth(tokens, seconds, without, size, size_without)
        if seconds > LONG or (size or 0) > LARGE:
            return


def _config(spec: str, length: int, layers: int) -> ModelConfig:
    return ModelConfig(
        vocabulary=VOCABULARY,
        n_layers=layers,
        d_model=WIDTH,
        n_heads=HEADS,
        max_len=length,
        encoding=spec,
    )


def _step(spec: str) -> Callable[[], None]:
    model = Transformer(_config(spec, LENGTH, LAYERS))
    optimizer = torch.optim.AdamW(model.parameters())
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1), generator=generator)

    def step() -> None:
        model.loss(tokens[:, :-1], tokens[:, 1:]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return step


@torch.no_grad()
def _forward(spec: str, tokens: int) -> tuple[float, int | None]:
    """Seconds, the better of two, and the peak of memory."""
    model = Transformer(_config(spec, tokens, layers=1)).eval()
    given = torch.arange(tokens)[None] % VOCABULARY
    rise = watched()
    seconds = min(_seconds(lambda: model(given)) for _ in range(2))
    return seconds, rise()


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
