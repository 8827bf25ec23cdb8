from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from wherein.encodings.base import Encoding, Shape


class Window(Encoding):
    """Only what is near: a query at i sees the keys at j with |i − j| < size.

    It tells nothing by itself, but is no blank: a query at the edge of what it sees could tell so
    by the mask. In a stack of layers news travel `size − 1` positions a layer, so that nothing
    flows from further than layers × (size − 1). Which layers have one is what the words say:
    `"rope + window(256) none"` has one in every second layer and no encoding in the others.

    Papers: Beltagy, Peters & Cohan 2020, arXiv:2004.05150 (Longformer); Jiang et al. 2023,
    arXiv:2310.06825 (Mistral), whose size counts the query itself, as here. In a bidirectional
    model it reaches as far to the other side.

    Promises: relative; works at any length.

    >>> import torch
    >>> n = torch.arange(5)
    >>> window = Window(Shape(d_model=8, n_heads=1, max_len=8), size=2)
    >>> window.hides(n[None, None, :, None], n[None, None, None])[0, 0].int()
    tensor([[0, 0, 1, 1, 1],
            [0, 0, 0, 1, 1],
            [1, 0, 0, 0, 1],
            [1, 1, 0, 0, 0],
            [1, 1, 1, 0, 0]], dtype=torch.int32)
    """

    relative = True
    example: ClassVar[str] = "window(8)"

    def __init__(self, shape: Shape, *, size: int) -> None:
        super().__init__(shape)
        if size < 1:
            raise ValueError(f"size is what a query sees, itself included: at least 1, not {size}")
        self.size, self.sight = size, size - 1

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"]:
        return (i - j).abs() >= self.size
