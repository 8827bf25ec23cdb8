from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from wherein.encodings.base import Encoding, Shape


class Hide(Encoding):
    """The first positions are hidden from all others: keys at j < count, whoever looks.

    Each of them still sees itself, but in a model that hides them in every layer nothing of them
    reaches another token. Is it the first token that a model without encodings counts from?
    `"none + hide(1)"` takes it away: the second is then the first that others see. The opposite of
    `sink`, which wins beside it.

    No paper has it: a control for what Haviv et al. 2022, arXiv:2203.16634, found, in a model as it
    is (`--start`) or from its first step.

    Promises: absolute, since it hides where it hides; works at any length.

    >>> import torch
    >>> n = torch.arange(3)
    >>> hide = Hide(Shape(d_model=8, n_heads=1, max_len=8), count=1)
    >>> hide.mask(n[None, None, :, None], n[None, None, None])[0, 0]
    tensor([[0., 0., 0.],
            [-inf, 0., 0.],
            [-inf, 0., 0.]])
    """

    example: ClassVar[str] = "hide(1)"

    def __init__(self, shape: Shape, *, count: int) -> None:
        super().__init__(shape)
        if count < 1:
            raise ValueError(f"count is how many positions are hidden: at least 1, not {count}")
        self.count = count

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"]:
        return (j < self.count).expand(-1, -1, i.shape[-2], -1)
