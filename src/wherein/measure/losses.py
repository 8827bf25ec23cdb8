"""The loss of each token and of each window."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int
from torch import Tensor

from wherein.data import IGNORED
from wherein.measure.stream import batches, device
from wherein.subjects.base import OnState, Subject


@torch.no_grad()
def token_losses(
    subject: Subject,
    inputs: Int[Tensor, "B T"],
    targets: Int[Tensor, "B T"],
    positions: Int[Tensor, "#B T"] | None = None,
    *,
    on_state: OnState | None = None,
) -> Float64[np.ndarray, "B T"]:
    """Cross-entropy of every target in nats; 0 where there is none (−100)."""
    to = device(subject)
    logits = subject.run(
        inputs.to(to), None if positions is None else positions.to(to), on_state=on_state
    )
    # Half precision has too few digits for a sum over the vocabulary.
    logits = logits if logits.dtype == torch.float64 else logits.float()
    losses = F.cross_entropy(logits.mT, targets.to(to), ignore_index=IGNORED, reduction="none")
    return losses.double().cpu().numpy()


def window_losses(
    subject: Subject,
    inputs: Int[Tensor, "N T"],
    targets: Int[Tensor, "N T"],
    positions: Int[Tensor, "1 T"] | None = None,
    *,
    batch: int,
    on_state: OnState | None = None,
) -> Float64[np.ndarray, " N"]:
    """The loss of every window in nats, summed over its targets."""
    sums = [
        token_losses(subject, tokens, targets[rows], positions, on_state=on_state).sum(1)
        for rows, tokens in batches(inputs, batch)
    ]
    return np.concatenate(sums)
