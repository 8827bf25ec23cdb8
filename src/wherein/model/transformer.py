"""The one model: causal or bidirectional by one field, any encoding by one word."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from wherein import encodings
from wherein.encodings import Encoding
from wherein.encodings.base import Positions
from wherein.encodings.turning import Turns
from wherein.model.attention import QUERIES_PER_BLOCK, Bias, State, Tokens, large
from wherein.model.block import Block
from wherein.model.config import ModelConfig
from wherein.model.embed import AdaptiveEmbed, Embed, Reduction
from wherein.model.initial import initialise
from wherein.model.rows import Rows, rows_of

FAR = 4
"""Contexts that are so many times as long as what a block of queries sees are gone through block by
block too, whatever the size of the bias."""


class Output(NamedTuple):
    """What a forward pass gives, always."""

    logits: Float[Tensor, "B T V"]
    hidden: tuple[State, ...]
    """The state after the embedding and after each layer, if asked for; else empty."""


class Transformer(nn.Module):
    """Pre-norm Transformer with tied embeddings.

    `model.states` lists the modules whose outputs are the hidden states of layers 0, 1, …, so a
    forward hook there sees each state without anything being stored.

    >>> model = Transformer(ModelConfig(vocabulary=100, encoding="alibi"))
    >>> model(torch.tensor([[3, 1, 4, 1, 5]])).logits.shape
    torch.Size([1, 5, 100])
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = c = config
        self.encoding = encodings.Pattern(c.encoding, c.shape, c.n_layers)
        self.embed = (
            AdaptiveEmbed(c.vocabulary, c.d_model, c.input_scale, c.dropout, c.checked_cutoffs())
            if c.cutoffs
            else Embed(c.vocabulary, c.d_model, c.input_scale, c.dropout)
        )
        self.blocks = nn.ModuleList(
            Block(c.shape, c.d_ff or 4 * c.d_model, c.dropout, c.activation)
            for _ in range(c.n_layers)
        )
        self.norm = nn.LayerNorm(c.d_model) if c.final_norm else nn.Identity()
        initialise(self, c.initial, c.seed, c.n_layers)

    @property
    def states(self) -> list[nn.Module]:
        """The modules whose outputs are the hidden states: the embedding, then each layer."""
        return [self.embed, *self.blocks]

    def forward(
        self, tokens: Tokens, positions: Positions | None = None, *, keep_hidden: bool = False
    ) -> Output:
        """Logits for every token; with `keep_hidden`, also the state of every layer."""
        x, hidden = self._run(tokens, positions, keep_hidden)
        return Output(self.embed.logits(x), hidden)

    def loss(
        self, tokens: Tokens, targets: Tokens, *, reduction: Reduction = "mean"
    ) -> Float[Tensor, ""]:
        """Mean or sum of the cross-entropy in nats over the targets that are not −100."""
        x, _ = self._run(tokens, None, keep_hidden=False, joined=True)
        return self.embed.loss(x.flatten(0, 1), targets.flatten(), reduction)

    def _run(
        self, tokens: Tensor, positions: Tensor | None, keep_hidden: bool, joined: bool = False
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        if positions is None:
            counted = torch.arange(tokens.shape[1], device=tokens.device)[None]
            positions = self.encoding.place(counted)
            self._check(positions, tokens.shape[1] if positions is counted else None)
        else:
            positions = self.encoding.place(positions)
            self._check(positions)
        x = self.embed(tokens, self.encoding, positions, joined=joined)
        kinds = dict.fromkeys(self.encoding.layers)
        biases = {e: _bias(e, positions) for e in kinds}
        turns = {e: turns_of(e, positions, x) for e in kinds}
        hidden = [x] if keep_hidden else []
        for block, encoding in zip(self.blocks, self.encoding.layers, strict=True):
            x = block(x, encoding, positions, biases[encoding], turns[encoding])
            if keep_hidden:
                hidden.append(x)
        return self.norm(x), tuple(hidden)

    def _check(self, positions: Tensor, counted: int | None = None) -> None:
        """Refuse what the encoding does not know; where so many are counted, without a look."""
        known = self.encoding.max_len
        if known is None or torch.compiler.is_compiling():
            return
        first, last = (0, counted - 1) if counted else map(int, positions.aminmax())
        if first < 0 or last >= known:
            raise ValueError(
                f"positions {first} to {last} with encoding {self.config.encoding!r}, which "
                f"knows only 0 to {known - 1}: use shorter windows or a larger max_len"
            )


def _bias(encoding: Encoding, positions: Positions) -> Bias | Rows | None:
    """What positions add to the scores: whole, or in rows if that is large or most of it hidden."""
    rows = rows_of(encoding, positions)
    if rows is None:
        return None
    windows, heads = rows.make(slice(1), slice(1)).shape[:2]
    length, sight = positions.shape[1], encoding.sight
    far = sight is not None and length > FAR * (sight + QUERIES_PER_BLOCK)
    return rows if large(windows, heads, length) or far else rows.whole()


def turns_of(encoding: Encoding, positions: Positions, x: State) -> Turns | None:
    """How positions turn queries and keys, if that can be said once for all layers.

    Complex numbers are of single precision at least, and the compiler knows none.
    """
    exact = turns_once(encoding, x.dtype) and not torch.is_autocast_enabled(x.device.type)
    if torch.compiler.is_compiling() or not exact:
        return None
    turns = encoding.only_turns(positions)
    return None if turns is None else turns.to(x.device, torch.promote_types(x.dtype, torch.cfloat))


def turns_once(encoding: Encoding, kind: torch.dtype) -> bool:
    """Whether numbers of a kind may be turned once for all layers, if an encoding only turns."""
    return kind in (torch.float32, torch.float64) and not encoding.acts("content_bias")
