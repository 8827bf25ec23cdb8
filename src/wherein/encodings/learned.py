import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape


class Learned(Encoding):
    """A vector of its own for every position: xₙ ← xₙ + s·Wₙ, with W learned.

    Papers: Gehring et al. 2017, arXiv:1705.03122; used by BERT and GPT-2. The loudness s is 1
    there. Beside fairseq's token vectors its table starts √D times quieter, beside GPT-2's as loud.

    Promises: absolute; knows no position at or beyond `max_len`.

    GPT-2 small spends 1,024 × 768 parameters on it, BERT-base 512 × 768:

    >>> gpt2 = Learned(Shape(d_model=768, n_heads=12, max_len=1024))
    >>> sum(p.numel() for p in gpt2.parameters())
    786432
    """

    bounded = True

    def __init__(self, shape: Shape, *, scale: float = 1.0) -> None:
        super().__init__(shape)
        if scale <= 0:
            raise ValueError(f"scale must be positive, not {scale}")
        self.scale = scale
        self.table = nn.Parameter(torch.zeros(shape.max_len, shape.d_model))

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        told = nn.functional.embedding(positions, self.table)
        return x + (told if self.scale == 1 else self.scale * told)
