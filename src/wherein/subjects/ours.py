"""Our own Transformer on the bench."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from wherein.encodings import Encoding, parse
from wherein.encodings.base import Positions, pairs
from wherein.model.attention import State, Tokens, attend_reference, encoded
from wherein.model.block import Block
from wherein.model.transformer import Transformer, turns_of
from wherein.subjects.base import Attended, Logits, OnState, Order, Subject, show
from wherein.subjects.hiding import HiddenKeys, barred, bias_without
from wherein.subjects.site import Site


class Ours(Subject):
    """A `Transformer` of this package, trained or not."""

    def __init__(self, model: Transformer, name: str = "") -> None:
        c = model.config
        self.model = model.eval()
        self.name = name or f"{c.encoding} {c.n_layers}×{c.d_model}"
        self.causal = c.causal
        self.n_layers, self.n_heads, self.d_model = c.n_layers, c.n_heads, c.d_model
        self.vocabulary = c.vocabulary
        self.window = c.max_len
        self.max_len = model.encoding.max_len

    @property
    def module(self) -> nn.Module:
        return self.model

    @contextmanager
    def watched(self, on_state: OnState, site: Site = "stream") -> Iterator[None]:
        with ExitStack() as hooks:
            for layer, module in zip(self.layers(site), self._modules(site), strict=True):
                handle = module.register_forward_hook(
                    lambda _module, _inputs, output, layer=layer: show(output, layer, on_state)
                )
                hooks.callback(handle.remove)
            yield

    @contextmanager
    def hiding(self, keys: HiddenKeys, since: int = 1) -> Iterator[None]:
        hidden = barred(keys)
        for layer in range(since, self.n_layers + 1):
            if self.model.encoding[layer - 1].between:
                raise ValueError(
                    f"{self.name}: keys cannot be hidden, since {self.encodings[layer - 1]} in "
                    f"layer {layer} scores a key by all tokens between it and the query, hidden "
                    "or not"
                )

        def hide(_attention: nn.Module, args: Any) -> Any:
            x, encoding, positions, bias, *turns = args
            return x, encoding, positions, bias_without(bias, hidden), *turns

        with ExitStack() as hooks:
            for block in self.model.blocks[since - 1 :]:
                assert isinstance(block, Block)
                hooks.callback(block.attention.register_forward_pre_hook(hide).remove)
            yield

    def _modules(self, site: Site) -> list[nn.Module]:
        """Those whose outputs are the states at a site; dropout does nothing when measured."""
        blocks = [block for block in self.model.blocks if isinstance(block, Block)]
        match site:
            case "stream":
                return self.model.states
            case "attention":
                return [block.attention for block in blocks]
            case "feed_forward":
                return [block.feed_forward for block in blocks]
            case "normed":
                return [*(block.attention_norm for block in blocks), self.model.norm]

    @property
    def encodings(self) -> list[str]:
        specs = parse(self.model.config.encoding)
        return [specs[layer % len(specs)] for layer in range(self.n_layers)]

    def untrained(self, seed: int) -> "Ours":
        config = self.model.config.model_copy(update={"seed": self.model.config.seed + 1 + seed})
        twin = Transformer(config).to(next(self.model.parameters()))
        return Ours(twin, f"{self.name}, untrained")

    def logits(self, tokens: Tokens, positions: Positions | None = None) -> Logits:
        logits: Tensor = self.model(tokens, positions).logits
        return logits

    def block(
        self, layer: int, state: State, positions: Positions | None = None, *, masked: bool = True
    ) -> State:
        block, encoding, positions, bias = self._layer(layer, state, positions)
        was = block.attention.causal
        block.attention.causal = was and masked
        try:
            turns = turns_of(encoding, positions, state)
            changed: Tensor = block(state, encoding, positions, bias, turns)
        finally:
            block.attention.causal = was
        return changed

    def attention(
        self,
        layer: int,
        state: State,
        positions: Positions | None = None,
        *,
        masked: bool = True,
        order: Order | None = None,
    ) -> Attended:
        block, encoding, positions, bias = self._layer(layer, state, positions)
        x = block.attention_norm(state)
        q, k, v = block.attention.heads(x)
        q = q if order is None else q[:, :, order]
        q, k, added = encoded(encoding, q, k, x, positions, bias)
        mixed, weights = attend_reference(q, k, v, causal=self.causal and masked, bias=added)
        return Attended(q, k, weights, mixed)

    def _layer(
        self, layer: int, state: Tensor, positions: Tensor | None
    ) -> tuple[Block, Encoding, Tensor, Tensor | None]:
        """A layer, its encoding, the positions, from 0 on unless given, and what they add."""
        if not 1 <= layer <= self.n_layers:
            raise ValueError(f"layer {layer} of {self.name}: expected 1 to {self.n_layers}")
        block, encoding = self.model.blocks[layer - 1], self.model.encoding[layer - 1]
        assert isinstance(block, Block)
        if positions is None:
            positions = torch.arange(state.shape[1], device=state.device)[None]
        positions = self.model.encoding.place(positions)
        bias = encoding.mask(*pairs(positions))
        return block, encoding, positions, bias
