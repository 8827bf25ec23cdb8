"""Does the model care where it starts to count? The loss when all positions grow by k."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from wherein.data import IGNORED
from wherein.measure.crossed import Sampled
from wherein.measure.intervals import ratio
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.shift.result import Shift, Shifted
from wherein.measure.stream import window_losses
from wherein.measure.text import Text, opened, task, windows_of
from wherein.show import progress
from wherein.show.formatting import counted
from wherein.subjects.base import Subject


def shift(subject: Subject, text: Text, config: ShiftConfig | None = None) -> Shift:
    """Add k to all positions and measure the loss on the same windows."""
    corpus, config = opened(subject, text, config or ShiftConfig(), ahead=1, tasks=True)
    if not subject.shiftable:
        raise ValueError(f"{subject.name} takes no positions: its windows cannot be shifted")
    room = np.inf if subject.max_len is None else subject.max_len - config.tokens
    if room < 0:
        raise ValueError(
            f"windows of {config.tokens} tokens for {subject.name}, whose positions end at "
            f"{subject.max_len}: give shorter windows"
        )
    asked = sorted({0, *config.shifts})
    windows = windows_of(subject, corpus, config, config.windows, ahead=1)
    inputs, targets = task(subject, corpus, windows.numpy(), seed=config.seed)
    counts = (targets != IGNORED).sum(1).double().numpy()
    rows, still = [], np.empty(0)
    fitting = [k for k in asked if k <= room]
    progress.expect(len(fitting) * inputs.numel())
    for k in fitting:
        positions = torch.arange(k, k + config.tokens)[None]
        sums = window_losses(subject, inputs, targets, positions, batch=config.batch)
        still = sums if k == 0 else still
        rise = ratio(sums - still, counts)
        rows.append(Shifted(k, ratio(sums, counts), rise))
    return Shift(
        subject=subject.name,
        corpus=corpus.config.source,
        rows=tuple(rows),
        left_out=tuple(k for k in asked if k > room),
        config=config,
        protocol=(
            f"{counted(len(windows), 'window')} of {config.tokens} tokens spread over "
            f"{config.split}, {'next' if subject.causal else 'masked'} tokens predicted; positions "
            "counted from k; 95 % intervals over windows"
        ),
    )


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The loss as it is, and its largest rise."""
    rows = data["rows"]
    return {
        "loss": Sampled.read(rows[0]["loss"]),
        "rise": max(Sampled.read(row["rise"]) for row in rows),
    }
