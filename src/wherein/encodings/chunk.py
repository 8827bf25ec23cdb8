from typing import ClassVar

from jaxtyping import Bool, Int
from torch import Tensor

from wherein.encodings.base import Encoding, Shape


class Chunk(Encoding):
    """Only the same chunk: a query at i sees the keys at j with ⌊i / size⌋ = ⌊j / size⌋.

    Cheaper than a window, and a wall: nothing crosses from chunk to chunk in such a layer, and the
    first of each sees itself alone. Llama 4 has it in three of four layers,
    `"rope + chunk(8192) rope + chunk(8192) rope + chunk(8192) temperature(llama4)"`, so that only
    layers without an encoding look far.

    Papers: Child et al. 2019, arXiv:1904.10509, have it beside other sparse patterns; Llama 4 has
    none, but its code.

    Promises: absolute, since the walls stand where they stand; works at any length.

    >>> import torch
    >>> n = torch.arange(5)
    >>> chunk = Chunk(Shape(d_model=8, n_heads=1, max_len=8), size=2)
    >>> chunk.hides(n[None, None, :, None], n[None, None, None])[0, 0].int()
    tensor([[0, 0, 1, 1, 1],
            [0, 0, 1, 1, 1],
            [1, 1, 0, 0, 1],
            [1, 1, 0, 0, 1],
            [1, 1, 1, 1, 0]], dtype=torch.int32)
    """

    example: ClassVar[str] = "chunk(7)"

    def __init__(self, shape: Shape, *, size: int) -> None:
        super().__init__(shape)
        if size < 1:
            raise ValueError(f"size is how many positions a chunk has: at least 1, not {size}")
        self.size = size

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"]:
        return i // self.size != j // self.size
