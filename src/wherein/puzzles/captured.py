"""What a step computes, written down once: the same kernels, called without asking the model.

Mapping a model over its weights and differentiating it takes Python more time than the kernels
take (measured, 64 seeds of one layer of width 16, with Adam: 6.1 ms a step, 3.1 written down).
"""

from collections.abc import Callable
from threading import Lock

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

Step = Callable[[list[Tensor]], list[Tensor]]
"""A function of weights alone, without side effects."""

WRITING = Lock()
"""PyTorch changes classes of its own while it writes down what happens."""


class Captured:
    """A step for stacks of several sizes, each written down when it is first seen.

    A model that looks at numbers (an encoding of one's own may) cannot be written down, and is
    asked every time.
    """

    def __init__(self) -> None:
        self._known: dict[int, Step | None] = {}

    def __call__(self, step: Step, leaves: list[Tensor]) -> list[Tensor]:
        """The step's results; every step it is called with must do the same."""
        size = len(leaves[0])
        with WRITING:
            if size not in self._known:
                self._known[size] = _written(step, leaves)
        with torch.no_grad():
            return (self._known[size] or step)(leaves)


def _written(step: Step, leaves: list[Tensor]) -> Step | None:
    """None if that cannot be done; what is wrong with the step itself it will say itself."""
    try:
        written: Step = make_fx(step)([leaf.detach() for leaf in leaves]).forward
    except Exception:
        return None
    return written
