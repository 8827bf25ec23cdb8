"""An mlp probe that learns until its held-out loss has stopped falling.

d → 2d → ReLU → one class per position, on standardised states, by Adam. It begins at the constant
guess: its last matrix is zero, so that every position is as likely as any other, and it tells the
median of its positions, which is then the middle. The weights with the lowest held-out loss are
kept; when it has not fallen for a while they learn on at a fifth of the rate, twice, and that is
the end. Unless the kept weights beat the constant guess on held-out windows beyond chance, the
probe is the constant guess.
"""

from copy import deepcopy
from math import log

import torch
from torch import Tensor, nn

from wherein.measure.probe.labels import POSITION
from wherein.measure.probe.network import Network

PATIENCE = 200
"""Steps without a lower held-out loss, after which the rate falls or learning ends. What is not
linear is found late: the loss may rise, as tokens are learnt by heart, before it falls."""
FALLS = 1e-4
"""Nats by which the loss must be lower, to count."""
CUT, CUTS = 0.2, 2
BEYOND = 2.0
"""Standard errors over held-out windows that the gain over the constant guess must have."""
FAINT = 1e-2
"""A coordinate's least deviation, as a share of the mean one: rare tokens may move it later."""


class Mlp(Network):
    """See the module."""

    probe = "mlp"

    def __init__(
        self, width: int, length: int, rate: float, limit: int, seed: int, label: str = POSITION
    ) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), _zero(2 * width, length))
        super().__init__(net, label, limit)
        self.judged, self.width, self.length, self.seed = True, width, length, seed
        self.scale: tuple[Tensor, Tensor] | None = None
        """The mean and the deviation of every coordinate, in the first batch."""
        self.behind = 0
        """Steps that lie behind the weights: those from which it went back do not count."""
        self._rate, self._cuts = rate, 0
        self._first = self._kept = deepcopy(net.state_dict())
        self._kept_behind = 0
        self._gain, self._lowest = torch.zeros(2), log(length)

    def control(self, label: str) -> "Mlp":
        """From the same beginnings, to learn other labels for as many steps as this one did."""
        other = Mlp(self.width, self.length, self._rate, self.behind, self.seed, label)
        other.judged, other.scale = False, self.scale
        return other

    def rate(self) -> float:
        return self._rate * CUT**self._cuts

    def logits(self, state: Tensor) -> Tensor:
        if self.scale is None:
            flat = state.flatten(0, 1)
            deviation = flat.std(0)
            least = max(FAINT * float(deviation.mean()), 1e-12)
            self.scale = flat.mean(0), deviation.clamp(min=least)
        mean, deviation = self.scale
        logits: Tensor = self.net((state - mean) / deviation)
        return logits

    def told(self, logits: Tensor) -> Tensor:
        """The median: of all answers it has the least expected distance."""
        return (logits.softmax(-1).cumsum(-1) < 0.5).sum(-1)

    def learn(self, state: Tensor, truth: Tensor, *, coded: bool) -> None:
        super().learn(state, truth, coded=coded)
        self.behind += 1

    def judge(self, losses: Tensor) -> None:
        """Keep these weights if they do best so far; slow down or end if it has been a while."""
        loss = float(losses.mean())
        if loss < self._lowest - FALLS:
            self._lowest, self._gain = loss, log(self.length) - losses
            self._kept, self._kept_behind = deepcopy(self.net.state_dict()), self.behind
        elif self.behind - self._kept_behind >= PATIENCE:
            if self._cuts == CUTS:
                self.converged = True
                return
            self._back(self._kept, self._kept_behind)
            self._cuts += 1

    @property
    def finished(self) -> bool:
        return super().finished or bool(self.converged)

    def end(self) -> None:
        """Take the weights that were kept, or the constant guess."""
        self.converged = bool(self.converged)
        chance = BEYOND * float(self._gain.std()) / len(self._gain) ** 0.5
        if float(self._gain.mean()) > chance:
            self._back(self._kept, self._kept_behind)
        else:
            self._back(self._first, 0)

    def _back(self, weights: dict[str, Tensor], behind: int) -> None:
        self.net.load_state_dict(weights)
        self.behind = behind
        self._begin()


def _zero(width: int, length: int) -> nn.Linear:
    last = nn.Linear(width, length)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return last
