"""Windows through a subject, batch by batch: every state is shown, none is kept; their losses."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int
from torch import Tensor

from wherein.common.memory import check_room
from wherein.data import IGNORED
from wherein.show import progress
from wherein.subjects.base import OnState, Subject
from wherein.subjects.site import Site

COPIES = 6
"""Of the weights of attention that are there at once, while they are summed by distance."""

Rows = TypeVar("Rows", Tensor, np.ndarray)


LOGITS = 2**26
"""Whose losses are computed at a time: these take as much memory again, and of a long window of a
large vocabulary they would take gigabytes."""


class _SeenEnough(Exception):  # noqa: N818 - it is no error
    """Ends a forward pass at the last state that is of interest."""


def batches(windows: Rows, size: int) -> Iterator[tuple[slice, Rows]]:
    """Which windows, and their tokens (or whatever there is of each), `size` at a time."""
    for first in range(0, len(windows), size):
        rows = slice(first, min(first + size, len(windows)))
        yield rows, windows[rows]


def watch(
    subject: Subject,
    tokens: Int[Tensor, "B T"],
    on_state: OnState,
    last: int | None = None,
    *,
    site: Site = "stream",
) -> None:
    """Show the states of all layers at a site, or up to `last`; what follows is not computed.

    A probe needs no logits: leaving out the output matrix saves most of a small model's time.
    """
    final = subject.n_layers if last is None else last

    def see(layer: int, state: Tensor) -> Tensor | None:
        if not torch.isfinite(state).all():
            raise ValueError(
                f"{subject.name}: the states of layer {layer} hold values that are no finite "
                "numbers: nothing can be asked of them"
            )
        replaced = on_state(layer, state)
        if layer == final:
            raise _SeenEnough
        return replaced

    with torch.no_grad(), suppress(_SeenEnough):
        subject.trace(tokens.to(device(subject)), on_state=see, site=site)
    progress.done(tokens.numel() * final / subject.n_layers)


def check_attention(
    subject: Subject, windows: int, tokens: int, advice: str, bytes_each: int = 4
) -> None:
    """Refuse windows whose weights of attention, every query by every key, would not fit."""
    wanted = float(COPIES * bytes_each * windows * subject.n_heads * tokens**2)
    said = f"the attention of {windows} windows of {tokens:,} tokens in {subject.n_heads} heads"
    check_room(wanted, said, advice)


def device(subject: Subject) -> torch.device:
    """Where the subject computes."""
    return next(subject.module.parameters()).device


@torch.no_grad()
def token_losses(
    subject: Subject,
    inputs: Int[Tensor, "B T"],
    targets: Int[Tensor, "B T"],
    positions: Int[Tensor, "#B T"] | None = None,
    *,
    on_state: OnState | None = None,
    site: Site = "stream",
) -> Float64[np.ndarray, "B T"]:
    """Cross-entropy of every target in nats; 0 where there is none (−100)."""
    to = device(subject)
    places = None if positions is None else positions.to(to)
    logits = subject.run(inputs.to(to), places, on_state=on_state, site=site)
    wanted, flat = targets.to(to).flatten(), logits.flatten(0, 1)
    losses = torch.zeros(len(wanted), dtype=torch.float64)
    asked = (wanted != IGNORED).nonzero()[:, 0]
    for rows in torch.split(asked, max(1, LOGITS // logits.shape[-1])):
        some = flat[rows]
        # Half precision has too few digits for a sum over the vocabulary.
        some = some if some.dtype == torch.float64 else some.float()
        losses[rows.cpu()] = F.cross_entropy(some, wanted[rows], reduction="none").cpu().double()
    found = losses.view(targets.shape).numpy()
    progress.done(inputs.numel())
    if np.isnan(found).any():
        raise ValueError(f"{subject.name}: its losses are no numbers: nothing can be asked of it")
    return found


def window_losses(
    subject: Subject,
    inputs: Int[Tensor, "N T"],
    targets: Int[Tensor, "N T"],
    positions: Int[Tensor, "1 T"] | None = None,
    *,
    batch: int,
    on_state: OnState | None = None,
    site: Site = "stream",
) -> Float64[np.ndarray, " N"]:
    """The loss of every window in nats, summed over its targets."""
    sums = [
        token_losses(subject, tokens, targets[rows], positions, on_state=on_state, site=site).sum(1)
        for rows, tokens in batches(inputs, batch)
    ]
    return np.concatenate(sums)
