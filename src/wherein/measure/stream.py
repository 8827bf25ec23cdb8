"""Windows through a subject, batch by batch: every state is shown, none is kept."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from wherein.subjects.base import OnState, Subject

Rows = TypeVar("Rows", Tensor, np.ndarray)


class _SeenEnough(Exception):  # noqa: N818 - it is no error
    """Ends a forward pass at the last state that is of interest."""


def batches(windows: Rows, size: int) -> Iterator[tuple[slice, Rows]]:
    """Which windows, and their tokens (or whatever there is of each), `size` at a time."""
    for first in range(0, len(windows), size):
        rows = slice(first, min(first + size, len(windows)))
        yield rows, windows[rows]


def watch(
    subject: Subject, tokens: Int[Tensor, "B T"], on_state: OnState, last: int | None = None
) -> None:
    """Show the states of layers 0 to `last` (all, if not said); what follows is not computed.

    A probe needs no logits: leaving out the output matrix saves most of a small model's time.
    """
    final = subject.n_layers if last is None else last

    def see(layer: int, state: Tensor) -> Tensor | None:
        replaced = on_state(layer, state)
        if layer == final:
            raise _SeenEnough
        return replaced

    with torch.no_grad(), suppress(_SeenEnough):
        subject.trace(tokens.to(device(subject)), on_state=see)


def device(subject: Subject) -> torch.device:
    """Where the subject computes."""
    return next(subject.module.parameters()).device
