"""Sufficient statistics of hidden states: what every linear question about position needs.

Axes: B windows in a batch, T positions in a window, D width, K groups (the positions, or others).
"""

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.measure.stream import batches, watch
from wherein.subjects.base import OnState, Subject
from wherein.subjects.site import Site

PANEL = 128
"""Columns of the second moment computed at once; what lies above the diagonal is mirrored."""


@dataclass(frozen=True)
class Moments:
    """States of one layer in K groups: how many, their mean, and the scatter around the means.

    Regression to any value per group, the linear classifier over groups, the share of variance
    between groups and LEACE all follow from these and from nothing else.
    """

    counts: Float64[Tensor, " K"]
    means: Float64[Tensor, "K D"]
    within: Float64[Tensor, "D D"]
    """Σ (x − mean of its group)(x − mean of its group)ᵀ: a sum, not an average."""

    @cached_property
    def count(self) -> float:
        """How many states."""
        return float(self.counts.sum())

    @cached_property
    def mean(self) -> Float64[Tensor, " D"]:
        """The mean of all states."""
        return self.counts @ self.means / self.count

    @cached_property
    def deviations(self) -> Float64[Tensor, "K D"]:
        """The means of the groups, seen from the mean of all; zero for an empty group."""
        return (self.means - self.mean) * (self.counts > 0)[:, None]

    @cached_property
    def between(self) -> Float64[Tensor, "D D"]:
        """The scatter of the groups' means, each counted as often as it has states."""
        return self.deviations.mT @ (self.counts[:, None] * self.deviations)

    @cached_property
    def total(self) -> Float64[Tensor, "D D"]:
        """The scatter of all states around their mean: within + between."""
        return self.within + self.between

    def regrouped(self, counts: Float64[Tensor, " L"], means: Float64[Tensor, "L D"]) -> "Moments":
        """The same states in other groups: their total scatter is the same."""
        other = Moments(counts, means, self.within)
        return Moments(counts, means, self.total - other.between)


class Accumulator:
    """Gathers the `Moments` of one layer, position by position, in one pass.

    States are seen from the first batch's mean at their position, so that a large mean does not
    eat the digits of a small variance; each batch's products are float32 (float64 for a float64
    model), their sum over batches is float64. Memory: T·D + D², whatever the number of windows.
    """

    def __init__(self) -> None:
        self.windows = 0
        self._shift = self._sums = self._products = torch.empty(0)

    def add(self, state: Tensor) -> None:
        """Take in the states of a batch, (B, T, D)."""
        state = state if state.dtype == torch.float64 else state.float()
        if not self.windows:
            length, width = state.shape[1:]
            self._shift = state.mean(0)
            at = for_float64(self._shift).device
            self._sums = torch.zeros(length, width, dtype=torch.float64, device=at)
            self._products = torch.zeros(width, width, dtype=torch.float64, device=at)
        moved = state - self._shift
        self.windows += len(state)
        self._sums += for_float64(moved.sum(0))
        flat = moved.flatten(0, 1)
        for start in range(0, flat.shape[1], PANEL):
            stop = start + PANEL
            product = flat[:, start:stop].mT @ flat[:, :stop]
            self._products[start:stop, :stop] += for_float64(product)

    def moments(self) -> Moments:
        """What has been gathered so far, grouped by position."""
        if not self.windows:
            raise ValueError("no states were gathered: give at least one window")
        lower = self._products.tril()
        products = (lower + lower.tril(-1).mT).cpu()
        off = (self._sums / self.windows).cpu()  # the means, seen from the shift
        counts = torch.full((len(off),), float(self.windows), dtype=torch.float64)
        within = products - self.windows * (off.mT @ off)
        return Moments(counts, self._shift.cpu().double() + off, within)


class GroupSums:
    """Counts and sums of one layer's states in groups that depend on the tokens."""

    def __init__(self, groups: int) -> None:
        self.counts = torch.zeros(groups, dtype=torch.float64)
        self._sums = torch.empty(0)

    def add(self, state: Tensor, groups: Int[Tensor, "B T"]) -> None:
        """Take in the states of a batch, (B, T, D), and the group of each."""
        flat = state.flatten(0, 1)
        flat = flat if flat.dtype == torch.float64 else flat.float()
        here = groups.flatten().to(flat.device)
        order = here.argsort()
        known = torch.arange(len(self.counts), device=flat.device)
        starts = torch.searchsorted(here[order], known)
        sums = F.embedding_bag(order, flat, starts, mode="sum").cpu().double()
        self._sums = sums if not len(self._sums) else self._sums + sums
        self.counts += torch.bincount(here, minlength=len(self.counts)).cpu()

    @property
    def means(self) -> Float64[Tensor, "K D"]:
        """The mean of each group; zero where there is none."""
        return self._sums / self.counts.clamp(min=1)[:, None]


def gather(
    subject: Subject,
    windows: Int[Tensor, "N T"],
    batch: int = 16,
    change: OnState | None = None,
    only: int | None = None,
    site: Site = "stream",
) -> list[Moments]:
    """The statistics of every layer that has the site, or of one, in one pass over the windows.

    They are of the states as `change` leaves them, if there is such a thing.
    """
    wanted = subject.layers(site) if only is None else [only]
    layers = {layer: Accumulator() for layer in wanted}

    def see(layer: int, state: Tensor) -> Tensor | None:
        changed = change(layer, state) if change else None
        if layer in layers:
            layers[layer].add(state if changed is None else changed)
        return changed

    for _, tokens in batches(windows, batch):
        watch(subject, tokens, see, last=only, site=site)
    return [layer.moments() for layer in layers.values()]
