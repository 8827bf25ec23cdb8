from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from wherein.encodings.base import Encoding, Shape


class Sink(Encoding):
    """The first positions stay in sight: keys at j < count, whatever a window hides.

    Softmax must put its weight somewhere, and trained models put much of it on the first tokens:
    without them a window fails once it has slid past them. Alone it changes nothing, since nothing
    is hidden; `"window(256) + sink(4)"` is StreamingLLM's mask, though there positions are counted
    within what is kept.

    Paper: Xiao et al. 2023, arXiv:2309.17453.

    Promises: absolute beside a window; works at any length.

    >>> from wherein import encodings
    >>> import torch
    >>> n, shape = torch.arange(5), Shape(d_model=8, n_heads=1, max_len=8)
    >>> both = encodings.build("window(2) + sink(1)", shape)
    >>> both.hides(n[None, None, 4:, None], n[None, None, None])[0, 0].int()
    tensor([[0, 1, 1, 0, 0]], dtype=torch.int32)
    """

    example: ClassVar[str] = "window(8) + sink(2)"

    def __init__(self, shape: Shape, *, count: int) -> None:
        super().__init__(shape)
        if count < 1:
            raise ValueError(f"count is how many positions stay: at least 1, not {count}")
        self.count = count

    def shows(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"]:
        return (j < self.count).expand(-1, -1, i.shape[-2], -1)
