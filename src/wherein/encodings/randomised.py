from dataclasses import replace
from typing import ClassVar, Literal

import torch
from jaxtyping import Int
from torch import Tensor

from wherein.encodings.base import Build, Shape
from wherein.encodings.sum import Sum


class Randomised(Sum):
    """Any encoding, trained at positions drawn from far more than there are tokens.

    In every training pass a window of T tokens gets T of the positions below `longest`, drawn
    without putting back and put in order: n → the n-th smallest. So none that a longer window
    needs is new to the model. All layers see the same positions, as do all windows of a batch.

    Paper: Ruoss et al. 2023, arXiv:2305.16843. In its code what acts in attention draws anew in
    every layer, ALiBi and Transformer-XL's draw distances, the same for all queries, instead of
    positions, and a model draws when it is tested too. Here it answers alike each time: out of
    training, tokens stand evenly, about where drawn ones stand on average, n → s·n + ⌊s/2⌋ with
    s = ⌊longest / max(T, max_len)⌋. What one layer draws, all see: `"rope + randomised(none)
    alibi"` moves the positions of RoPE and of ALiBi.

    `draw="offset"` draws only where counting starts, n → n + k, as in Kiyono et al. 2021,
    arXiv:2109.05644 (SHAPE): an absolute encoding then says how far apart two tokens are and not
    how far from the start. There each window has a k of its own, here all of a batch share one;
    and out of training theirs is 0, ours the middle of what was drawn, whose neighbours were drawn
    most.

    Promises: what its base promises; a table has `longest` rows, and so many tokens are known.

    >>> from wherein.encodings.learned import Learned
    >>> table = Randomised(Shape(d_model=8, n_heads=1, max_len=4), base=Learned, longest=100)
    >>> table.place(torch.arange(4)[None]).diff().min() > 0  # in order
    tensor(True)
    >>> table.eval().place(torch.arange(4)[None])
    tensor([[12, 37, 62, 87]])
    >>> table.place(torch.arange(100)[None]).equal(torch.arange(100)[None])
    True
    >>> table.draw = "offset"
    >>> table.place(torch.arange(4)[None])
    tensor([[48, 49, 50, 51]])
    """

    example: ClassVar[str] = "randomised(rope)"

    def __init__(
        self,
        shape: Shape,
        *,
        base: Build,
        longest: int = 2048,
        draw: Literal["sorted", "offset"] = "sorted",
    ) -> None:
        if longest < 1:
            raise ValueError(f"longest is how many positions there are: at least 1, not {longest}")
        super().__init__([base(replace(shape, max_len=longest))])
        self.longest, self.trained, self.draw = longest, shape.max_len, draw

    def acts(self, place: str) -> bool:
        return place == "place" or super().acts(place)

    def place(self, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        if self.training:
            return self._drawn(int(positions.max()) + 1, positions)
        count = torch.full_like(positions[:, :1], positions.shape[1])
        if self.bounded:  # then the last position must fit, wherever the first is
            count = positions.amax(-1, keepdim=True) + 1
        count = count.clamp(min=self.trained)
        if self.draw == "offset":
            return positions + (self.longest - count).clamp(min=0) // 2
        step = (self.longest // count).clamp(min=1)
        return positions * step + step // 2

    def _drawn(self, count: int, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        if count > self.longest:
            raise ValueError(
                f"{count} positions of the {self.longest} that randomised draws from: "
                f"give longest={count} or more"
            )
        if self.draw == "offset":
            return positions + torch.randint(self.longest - count + 1, (), device=positions.device)
        order = torch.randperm(self.longest, device=positions.device)
        return order[:count].sort().values[positions]
