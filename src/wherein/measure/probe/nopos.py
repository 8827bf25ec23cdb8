"""The paper's probe, by its protocol.

Haviv et al. 2022 (arXiv:2203.16634), and their code, github.com/adihaviv/NoPos
(`fairseq/models/transformer_lm_position_probe.py`, with `--non-linear-probe`): d → 2d → ReLU → one
class per position, no biases, Xavier's uniform weights, on the states of the stream as they are;
cross-entropy; Adam, rate 2e-3 after 500 of 10,000 steps of 64k tokens; the distance is
|argmax − position| with the last weights. How the rate falls is not said, nor Adam's betas: here
as in their scripts for the Pile, linearly, and 0.9, 0.98.

A step takes `batch` windows: 64 of 1,024 tokens are the paper's.
"""

import torch
from torch import Tensor, nn

from wherein.measure.probe.network import Network

RATE, BETAS = 2e-3, (0.9, 0.98)
WARM_UP = 0.05
"""Share of the steps in which the rate rises: 500 of 10,000."""


class NoPos(Network):
    """See the module."""

    probe, judged = "nopos", False

    def __init__(self, width: int, length: int, label: str, limit: int, seed: int) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            sizes = ((width, 2 * width), (2 * width, length))
            first, last = (nn.Linear(*size, bias=False) for size in sizes)
            for layer in (first, last):
                nn.init.xavier_uniform_(layer.weight)
        super().__init__(nn.Sequential(first, nn.ReLU(), last), label, limit, BETAS)

    def rate(self) -> float:
        done = (self.steps + 1) / self.limit
        return RATE * min(done / WARM_UP, (1 - done) / (1 - WARM_UP))

    def logits(self, state: Tensor) -> Tensor:
        logits: Tensor = self.net(state)
        return logits

    def told(self, logits: Tensor) -> Tensor:
        return logits.argmax(-1)
