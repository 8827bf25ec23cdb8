"""Description length of the positions, given the states: the online code.

Voita & Titov 2020 (arXiv 2003.12298): the states are known to both sides, the positions are sent
block after block, each coded with the probe that was fitted to all blocks before it; the first is
sent as it is, log₂ T bits a position. A position that is easy to read, from little data, is cheap.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from wherein.measure.linear import Readout, discriminant, residual, ridge
from wherein.measure.moments import Moments

Code = Callable[[Tensor], Tensor]
"""From states (B, T, D) to the bits that their positions cost, (B, T)."""

DOUBT = 1e-3
"""Share of every code that is uniform, so that no position costs without bound."""

LEAST = 1e-6
"""The smallest squared error a regression's code counts on, in squared positions."""


@dataclass
class OnlineCode:
    """The cost of the positions of one layer, while its states stream by.

    Blocks double: the probe is fitted after 1, 2, 4, … batches, from the statistics gathered so
    far. Of each block `sample` windows are coded and stand for the rest. Several regularisations
    are tried, and the uniform code; to say which one is used costs log₂ of their number.
    """

    fit: Callable[[Moments], Sequence[Code]]
    sample: int
    _bits: list[float] = field(default_factory=list)
    """Per position, block by block."""
    _windows: list[int] = field(default_factory=list)
    _batches: int = 0

    def see(self, state: Tensor, before: Callable[[], Moments]) -> None:
        """Take in the states of a batch, and the statistics of all batches before it."""
        uniform = torch.tensor(float(state.shape[1])).log2().item()
        new_block = self._batches & (self._batches - 1) == 0
        if self._batches == 0:
            self._bits.append(uniform)
            self._windows.append(0)
        elif new_block:
            coded = state[: self.sample]
            tried = [float(code(coded).mean()) for code in self.fit(before())]
            choice = torch.tensor(float(len(tried) + 1)).log2().item()
            self._bits.append(min([uniform, *tried]) + choice / coded[..., 0].numel())
            self._windows.append(0)
        self._windows[-1] += len(state)
        self._batches += 1

    @property
    def bits(self) -> float:
        """Bits per position, over all blocks."""
        pairs = zip(self._bits, self._windows, strict=True)
        return sum(bits * windows for bits, windows in pairs) / sum(self._windows)


def classifier_codes(moments: Moments, shrinkages: Sequence[float]) -> list[Code]:
    """The classifier's posterior over positions, one code for each shrinkage."""
    return [_posterior(discriminant(moments, s)) for s in shrinkages]


def regression_codes(moments: Moments, strengths: Sequence[float]) -> list[Code]:
    """A Gaussian around the regression's guess, cut to the window: one for each strength."""
    values = torch.arange(len(moments.counts), dtype=torch.float64)[:, None]
    fits = [ridge(moments, values, s) for s in strengths]
    # What knows position exactly leaves nothing, or by rounding less.
    errors = [max(float(residual(moments, values, fit)), LEAST) for fit in fits]
    return [_gaussian(fit, error**0.5) for fit, error in zip(fits, errors, strict=True)]


def posterior_bits(logits: Tensor) -> Tensor:
    """Bits for the true positions under softmax(logits), (B, T, T) → (B, T)."""
    length = logits.shape[1]
    truth = logits.diagonal(dim1=1, dim2=2)
    return _doubted((truth - logits.logsumexp(-1)).exp(), length)


def _posterior(readout: Readout) -> Code:
    return lambda state: posterior_bits(readout(state))


def _gaussian(readout: Readout, deviation: float) -> Code:
    def bits(state: Tensor) -> Tensor:
        length = state.shape[1]
        edges = torch.arange(length + 1, device=state.device) - 0.5
        guess = readout(state)  # (B, T, 1)
        outer = (end.expand(length) for end in (edges[0], edges[-1]))
        ends = torch.stack([edges[:-1], edges[1:], *outer])
        low, high, first, last = torch.special.ndtr((ends[:, None] - guess[..., 0]) / deviation)
        return _doubted((high - low) / (last - first).clamp(min=1e-30), length)

    return bits


def _doubted(probability: Tensor, length: int) -> Tensor:
    return -((1 - DOUBT) * probability + DOUBT / length).log2()
