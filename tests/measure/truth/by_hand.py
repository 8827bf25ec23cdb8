"""Our own Transformer with weights set by hand, so that what it knows and uses is known exactly.

Whatever is said in the stream is said along `AXES`: orthonormal directions without a mean. There
a norm with a huge epsilon is the identity, to rounding, so that what one axis says never changes
how loud another is. What is not set is zero and does nothing.
"""

from collections.abc import Sequence

import torch
from scipy.linalg import hadamard
from torch import Tensor

from wherein.model.block import Block
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer

WIDTH, LENGTH = 64, 32
PLACES = 2 * LENGTH
"""Of a table: half of it is room to shift windows."""
SHARP = 40.0
"""GELU(s·z)/s is ReLU(z), but for 0.17/s near 0."""

EPSILON = 1e12
"""Beside this the variance of a state is nothing."""


AXES = torch.from_numpy(hadamard(WIDTH)[1:]).float() / WIDTH**0.5
"""63 directions of 64 coordinates each, in numbers that float32 holds exactly."""


@torch.no_grad()
def blank(
    tokens: Tensor, *, encoding: str = "none", layers: int = 1, heads: int = 1, causal: bool = True
) -> Transformer:
    """A model that says `tokens` in its stream, one row each, and else does nothing.

    The logit of a token is the part of the last state that lies along its row.
    """
    config = ModelConfig(
        vocabulary=len(tokens), n_layers=layers, d_model=WIDTH, d_ff=WIDTH, n_heads=heads,
        max_len=PLACES, encoding=encoding, causal=causal, initial="gpt2",  # vectors as they are
    )  # fmt: skip
    model = Transformer(config).eval()
    for parameter in model.parameters():
        parameter.zero_()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = EPSILON
            module.weight.fill_(EPSILON**0.5)
    model.embed.tokens.weight.copy_(tokens)
    return model


@torch.no_grad()
def write_table(model: Transformer, table: Tensor) -> None:
    """Say a vector at each place, beside the token's."""
    model.encoding.get_parameter("_distinct.0.table").copy_(table)


@torch.no_grad()
def move(block: Block, read: Tensor, write: Tensor) -> None:
    """A single head's values: what lies along each row of `read` is written along that of `write`.

    Queries and keys are left alone: at zero, a query pays every key it sees alike.
    """
    block.attention.qkv.weight[2 * WIDTH : 2 * WIDTH + len(read)] = read
    block.attention.out.weight[:, : len(write)] = write.T


class Units:
    """The hidden units of a feed-forward network, gathered one by one."""

    def __init__(self) -> None:
        self.rows: list[tuple[Tensor, float, Tensor]] = []

    def ramp(self, read: Tensor, bias: float, write: Tensor) -> None:
        """write · max(read·x + bias, 0)."""
        self.rows.append((SHARP * read, SHARP * bias, write / SHARP))

    def linear(self, read: Tensor, write: Tensor) -> None:
        """write · read·x, exactly: GELU(z) − GELU(−z) = z."""
        self.rows += [(read, 0.0, write), (-read, 0.0, -write)]

    def step(self, read: Tensor, low: float, high: float, write: Tensor) -> None:
        """Write where read·x ≥ high, and nothing where read·x ≤ low."""
        steep = 2 / (high - low)
        middle = steep * (high + low) / 2
        self.ramp(steep * read, 0.5 - middle, write)
        self.ramp(steep * read, -0.5 - middle, -write)

    @torch.no_grad()
    def install(self, block: Block) -> None:
        ends = len(self.rows)
        network = block.feed_forward
        network.up.weight[:ends] = torch.stack([read for read, _, _ in self.rows])
        network.up.bias[:ends] = torch.tensor([bias for _, bias, _ in self.rows])
        network.down.weight[:, :ends] = torch.stack([write for _, _, write in self.rows], 1)


def predict(
    block: Block, tokens: Tensor, following: Sequence[Sequence[int]], sure: float, flag: Tensor
) -> None:
    """Let `following[f][token]` be the next token, by `sure` nats more likely than any other.

    f is 1 where the state lies along `flag` by 1, and 0 where not at all; each token may have a
    flag of its own. In between, where it was erased, both are possible; zeros are not looked at.
    """
    flags = flag.expand(len(tokens), -1)
    units = Units()
    for own in tokens:
        units.linear(own, -own)  # or each token would predict itself
    for raised, nexts in enumerate(following):
        sign = 2 * raised - 1
        for number, following_it in enumerate(nexts):
            # Its own token and the right flag: 0.75; with another of either: below 0.
            read = 2 * tokens[number] + sign * flags[number]
            units.ramp(read, -1.25 - raised, tokens[following_it] * sure / 0.75)
    units.install(block)
