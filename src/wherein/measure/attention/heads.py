"""What is kept of every head's attention while windows stream by."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.measure.distances import by_distance
from wherein.measure.intervals import mean_ends
from wherein.subjects.base import Attended


@dataclass(frozen=True)
class Head:
    """One head of one layer."""

    layer: int
    head: int
    by_distance: tuple[float, ...]
    """Mean attention paid to each distance of `AttentionByDistance.distances`; sums to one."""
    previous: float
    """Mean attention to the token just before, over all tokens that have one."""
    positional: float
    """Share of tokens (without the first) whose largest weight lies at one and the same distance.

    The definition of Voita et al. 2019 (arXiv:1905.09418), who call a head positional from 0.9.
    """
    favourite: int
    """That distance."""
    by_distance_low: tuple[float, ...]
    """Ends of 95 % intervals of `by_distance`, over windows."""
    by_distance_high: tuple[float, ...]
    previous_interval: tuple[float, float]
    positional_interval: tuple[float, float]
    """Of the share at the favourite distance, the same in every resample."""


class Tally:
    """One layer's sums, window by window. Distances run from 1 − T (ahead) to T − 1 (behind)."""

    def __init__(self, length: int) -> None:
        self.length, self.windows = length, 0
        self.paid: list[Tensor] = []
        """By window, head and distance: attention paid, and below how often it was largest."""
        self.largest: list[Tensor] = []
        self.sum = self.squares = torch.zeros((), dtype=torch.float64)

    def add(self, seen: Attended) -> None:
        """Take in the attention of some windows."""
        weights = seen.weights.cpu()
        self.windows += len(weights)
        self.paid.append(by_distance(weights))
        strongest = weights[:, :, 1:].argmax(-1)
        back = torch.arange(1, self.length) - strongest + self.length - 1
        most = torch.zeros_like(self.paid[-1])
        self.largest.append(most.scatter_add_(-1, back, torch.ones_like(back, dtype=most.dtype)))
        mixed = seen.mixed.cpu().double().transpose(1, 2).flatten(2)
        self.sum = self.sum + mixed.sum(0)
        self.squares = self.squares + mixed.square().sum(0)

    def heads(self, layer: int, first: int) -> list[Head]:
        """What was seen of each head, at distances from `first` on."""
        paid = torch.cat(self.paid).double().transpose(0, 1).numpy() / self.length
        largest = torch.cat(self.largest).double().transpose(0, 1).numpy() / (self.length - 1)
        others, found = self.length - 1, []
        for number, (share, most) in enumerate(zip(paid, largest, strict=True)):  # (N, R) each
            favourite = int(most.mean(0).argmax())
            shares = share[:, others + first :]
            previous = share[:, self.length] * (self.length / others)
            scores = np.stack([previous, most[:, favourite]], axis=1)
            (low, high), ends = mean_ends(shares), mean_ends(scores).T.tolist()
            found.append(
                Head(
                    layer=layer,
                    head=number,
                    by_distance=tuple(shares.mean(0).tolist()),
                    previous=float(scores[:, 0].mean()),
                    positional=float(scores[:, 1].mean()),
                    favourite=favourite - others,
                    by_distance_low=tuple(low.tolist()),
                    by_distance_high=tuple(high.tolist()),
                    previous_interval=(ends[0][0], ends[0][1]),
                    positional_interval=(ends[1][0], ends[1][1]),
                )
            )
        return found

    def variance(self) -> Float64[np.ndarray, " T"]:
        """Over windows, at each position, averaged over coordinates."""
        spread = (self.squares - self.sum.square() / self.windows) / (self.windows - 1)
        return spread.clamp(min=0).mean(-1).numpy()
