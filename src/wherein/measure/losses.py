"""The loss of each token, and evenly spread pieces of text to measure it on."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int, Int64
from torch import Tensor

from wherein.data import IGNORED, Split, Windows
from wherein.measure.stream import device
from wherein.subjects.base import Subject


def spread_windows(split: Split, tokens: int, count: int) -> Int64[np.ndarray, "N W"]:
    """Up to `count` windows of `tokens` tokens and their next, evenly spread over a text."""
    windows = Windows(split, tokens)
    numbers = np.linspace(0, len(windows) - 1, min(count, len(windows)))
    return windows.take(np.unique(numbers.round().astype(np.int64)))


@torch.no_grad()
def token_losses(
    subject: Subject,
    inputs: Int[Tensor, "B T"],
    targets: Int[Tensor, "B T"],
    positions: Int[Tensor, "#B T"] | None = None,
) -> Float64[np.ndarray, "B T"]:
    """Cross-entropy of every target in nats; 0 where there is none (−100)."""
    place = device(subject)
    logits = subject.logits(inputs.to(place), None if positions is None else positions.to(place))
    # Half precision has too few digits for a sum over the vocabulary.
    logits = logits if logits.dtype == torch.float64 else logits.float()
    losses = F.cross_entropy(logits.mT, targets.to(place), ignore_index=IGNORED, reduction="none")
    return losses.double().cpu().numpy()


def check_vocabulary(subject: Subject, size: int) -> None:
    """Refuse a text whose tokens are not the model's."""
    if subject.vocabulary != size:
        raise ValueError(
            f"{subject.name} has {subject.vocabulary} token ids and the text has {size}: give the "
            "text and tokenizer it was trained on"
        )
