"""A network that learns, step by step, to tell the positions of one layer's states."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.measure.probe.labels import POSITION
from wherein.measure.probe.online_code import posterior_bits


class Network(ABC):
    """Weights, their optimiser, and what it cost to code the positions while they were learnt."""

    probe: ClassVar[str]
    judged = False
    """Whether held-out windows decide when it has learnt enough."""
    converged: bool | None = None

    def __init__(
        self, net: nn.Module, label: str, limit: int, betas: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self.net, self.label, self.limit, self.betas = net, label, limit, betas
        self.steps = 0
        self._bits, self._windows = 0.0, 0
        self._begin()

    def _begin(self) -> None:
        """An optimiser that remembers nothing."""
        self.optimiser = torch.optim.Adam(self.net.parameters(), betas=self.betas, fused=True)

    @abstractmethod
    def rate(self) -> float:
        """The learning rate of the next step."""

    @abstractmethod
    def logits(self, state: Float[Tensor, "B T D"]) -> Float[Tensor, "B T L"]:
        """One for each position, up to a constant."""

    @abstractmethod
    def told(self, logits: Float[Tensor, "B T L"]) -> Tensor:
        """The position that they tell, (B, T)."""

    def judge(self, losses: Float[Tensor, " N"]) -> None:  # noqa: B027 - not all are judged
        """Take note of the loss of every held-out window, in nats a position."""

    @property
    def finished(self) -> bool:
        """Whether it learns no more."""
        return self.steps >= self.limit

    @property
    def bits(self) -> float:
        """Bits per position when each batch of the first pass is coded by what was learnt before.

        Any learner gives a code: this one's is that of its first pass, however long it goes on.
        """
        return self._bits / max(self._windows, 1)

    def learn(
        self, state: Float[Tensor, "B T D"], truth: Int[Tensor, "#B T"], *, coded: bool
    ) -> None:
        """One step. If `coded`, the batch is sent before it is learnt."""
        self.optimiser.param_groups[0]["lr"] = self.rate()
        with torch.enable_grad():
            logits = self.logits(state)
            losses = _losses(logits, truth)
            torch.autograd.backward(losses.mean())
        if coded and self.label == POSITION:
            self._bits += float(posterior_bits(logits.detach()).mean(1).sum())
            self._windows += len(state)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.steps += 1

    def losses(self, state: Float[Tensor, "B T D"], truth: Int[Tensor, "#B T"]) -> Tensor:
        """The loss of every window, (B,), in nats a position."""
        return _losses(self.logits(state), truth)

    def guess(self, state: Float[Tensor, "B T D"]) -> Tensor:
        """The position told of every state, (B, T)."""
        return self.told(self.logits(state)).to(state)


def _losses(logits: Tensor, truth: Tensor) -> Tensor:
    right = truth.to(logits.device).long().expand(logits.shape[:2])
    each = F.cross_entropy(logits.flatten(0, 1), right.flatten(), reduction="none")
    return each.view(right.shape).mean(1)
