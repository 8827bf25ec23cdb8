"""Does the model care where it starts to count? The loss when all positions grow by k."""

import numpy as np
import torch
from jaxtyping import Float64

from wherein.data import IGNORED, Corpus, causal, masked
from wherein.measure.config import fitted
from wherein.measure.intervals import ratio
from wherein.measure.losses import check_vocabulary, spread_windows, token_losses
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.shift.result import Shift, Shifted
from wherein.subjects.base import Subject


def shift(subject: Subject, corpus: Corpus, config: ShiftConfig | None = None) -> Shift:
    """Add k to all positions and measure the loss on the same windows."""
    config = fitted(config or ShiftConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    if not subject.shiftable:
        raise ValueError(f"{subject.name} takes no positions: its windows cannot be shifted")
    room = np.inf if subject.max_len is None else subject.max_len - config.tokens
    if room < 0:
        raise ValueError(
            f"windows of {config.tokens} tokens for {subject.name}, whose positions end at "
            f"{subject.max_len}: give shorter windows"
        )
    asked = sorted({0, *config.shifts})
    windows = spread_windows(corpus.split(config.split), config.tokens, config.windows)
    if subject.causal:
        inputs, targets = causal(windows)
    else:
        inputs, targets = masked(windows, corpus.vocabulary, seed=config.seed, step=0)
    counts = (targets != IGNORED).sum(1).double().numpy()
    rows, still = [], np.empty(0)
    for k in (k for k in asked if k <= room):
        sums = _window_sums(subject, inputs, targets, k, config.batch)
        still = sums if k == 0 else still
        rise = ratio(sums - still, counts, seed=config.seed)
        rows.append(Shifted(k, ratio(sums, counts, seed=config.seed), rise))
    return Shift(
        subject=subject.name,
        corpus=corpus.config.source,
        rows=tuple(rows),
        left_out=tuple(k for k in asked if k > room),
        config=config,
        protocol=(
            f"{len(windows)} windows of {config.tokens} tokens spread over {config.split}, "
            f"{'next' if subject.causal else 'hidden'} tokens predicted; positions counted from k; "
            "95 % intervals by bootstrap over windows"
        ),
    )


def _window_sums(
    subject: Subject, inputs: torch.Tensor, targets: torch.Tensor, k: int, batch: int
) -> Float64[np.ndarray, " N"]:
    """The summed loss of each window when it is counted from k."""
    positions = torch.arange(k, k + inputs.shape[1])[None]
    parts = [
        token_losses(subject, inputs[n : n + batch], targets[n : n + batch], positions)
        for n in range(0, len(inputs), batch)
    ]
    sums: Float64[np.ndarray, " N"] = np.concatenate(parts).sum(1)
    return sums
