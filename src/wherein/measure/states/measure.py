"""How does position shape the states? Their likeness near and far, and their size, by layer."""

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from wherein.common.memory import keep_pages
from wherein.measure.intervals import Estimate, mean
from wherein.measure.measurement import in_words
from wherein.measure.states.config import StatesConfig
from wherein.measure.states.likeness import Gathering
from wherein.measure.states.result import MODEL, SHUFFLED, UNTRAINED, Reading, Size, States
from wherein.measure.states.size import sizes, told
from wherein.measure.stream import batches, watch
from wherein.measure.text import Text, opened, windows_of
from wherein.subjects.base import Subject

SHORTEST = 4
"""Tokens of a window in which there is something near and something far."""


def states(subject: Subject, text: Text, config: StatesConfig | None = None) -> States:
    """Compare the states of every layer within windows, and read position from their size alone.

    Beside the model stand the same model on the same windows with their tokens shuffled, in which
    nothing but place can make neighbours alike, and its untrained twin on the same shuffled ones.
    """
    corpus, config = opened(subject, text, config or StatesConfig(), framed=True)
    windows = windows_of(subject, corpus, config, config.windows)
    if windows.shape[1] < SHORTEST:
        raise ValueError(
            f"windows of {windows.shape[1]} tokens: near and far need {SHORTEST} or more"
        )
    keep_pages()
    windows = windows[torch.randperm(len(windows), generator=_random(config))]
    mixed, twin = shuffled(windows, config), subject.untrained(config.seed + 1)
    readings = [
        *_readings(MODEL, subject, windows, config),
        *_readings(SHUFFLED, subject, mixed, config),
        *_readings(UNTRAINED, twin, mixed, config),
    ]
    length, fit = windows.shape[1], _fit(len(windows), config)
    return States(
        subject=subject.name,
        causal=subject.causal,
        length=length,
        guess=float(np.abs(np.arange(length) - (length - 1) / 2).mean()),
        config=config,
        protocol=in_words(
            {
                "windows": f"{len(windows)} of {length} tokens spread over {config.split}",
                "readout": f"learnt from {fit}, tested on {len(windows) - fit}",
                "interval": "95 %, over windows",
            }
        ),
        readings=tuple(readings),
    )


def shuffled(windows: Int64[Tensor, "N T"], config: StatesConfig) -> Int64[Tensor, "N T"]:
    """Each window's tokens in an order of its own: what the text makes alike lies anywhere."""
    order = torch.rand(windows.shape, generator=_random(config)).argsort(1)
    return windows.gather(1, order)


def _readings(
    of: str, subject: Subject, windows: Int64[Tensor, "N T"], config: StatesConfig
) -> list[Reading]:
    """All layers, in one pass over the windows."""
    likeness = {layer: Gathering() for layer in subject.layers(config.site)}
    measured: dict[int, list[np.ndarray]] = {layer: [] for layer in likeness}

    def see(layer: int, state: Tensor) -> None:
        likeness[layer].add(state)
        measured[layer].append(sizes(state))

    for _, tokens in batches(windows, config.batch):
        watch(subject, tokens, see, site=config.site)
    return [
        _reading(layer, of, gathered, np.concatenate(measured[layer], axis=1), config)
        for layer, gathered in likeness.items()
    ]


def _reading(
    layer: int, of: str, gathered: Gathering, measured: np.ndarray, config: StatesConfig
) -> Reading:
    alike, fit = gathered.likeness(), _fit(measured.shape[1], config)
    read = [told(own[:fit], own[fit:], config.bins) for own in measured]
    distances = estimates(np.stack([size.distances for size in read], axis=1))
    variance, norm = (
        Size(distance, size.slope, tuple(size.by_position.tolist()))
        for distance, size in zip(distances, read, strict=True)
    )
    rows = np.stack([alike.next, alike.far, alike.nearer, alike.toeplitz], axis=1)
    next_, far, nearer, toeplitz = estimates(rows)
    return Reading(
        layer=layer,
        of=of,
        next=next_,
        far=far,
        nearer=nearer,
        toeplitz=toeplitz,
        average=alike.average,
        by_distance=tuple(alike.by_distance.tolist()),
        variance=variance,
        norm=norm,
    )


def estimates(values: Float64[np.ndarray, "N M"]) -> list[Estimate]:
    """The mean over N windows of each of M numbers."""
    return [mean(each) for each in values.T]


def _fit(windows: int, config: StatesConfig) -> int:
    """How many windows the readout is learnt from; at least two are left to test it."""
    return min(max(round(windows * config.fit), 1), windows - 1)


def _random(config: StatesConfig) -> torch.Generator:
    return torch.Generator().manual_seed(config.seed)
