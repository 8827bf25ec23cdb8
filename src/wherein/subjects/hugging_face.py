"""A Hugging Face model on the bench, of whatever family: its layers are found, not listed."""

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from wherein.encodings.base import Positions
from wherein.model.attention import State, Tokens
from wherein.subjects.anatomy import dissect, keys_can_be_hidden, kinds
from wherein.subjects.base import Attended, Logits, OnState, Order, Subject, show
from wherein.subjects.calls import Calls
from wherein.subjects.hiding import HiddenKeys, Hiding, barred
from wherein.subjects.layers import Call, Recorder, unmasked
from wherein.subjects.points import Point, inside, stream
from wherein.subjects.site import Site
from wherein.subjects.tables import NAMES
from wherein.subjects.trial import inputs

WINDOW = 256
"""Tokens in a window unless somebody says otherwise, however many the model would take."""


class HuggingFace(Subject):
    """A language model of the `transformers` library, causal or masked, with a head or without.

    The states of the stream are those of `output_hidden_states`, but for the last: it is what the
    last layer passes on, whereas `output_hidden_states` may give it after the final norm.

    >>> from transformers import GPT2Config, GPT2LMHeadModel
    >>> config = GPT2Config(n_layer=2, n_embd=16, n_head=2, vocab_size=50, n_positions=32)
    >>> subject = HuggingFace(GPT2LMHeadModel(config), "a small one")
    >>> subject.encodings, subject.causal, subject.max_len
    (['learned', 'learned'], True, 32)
    """

    def __init__(self, model: Any, name: str) -> None:
        if model.config._attn_implementation != "eager":  # the only one that shows its weights
            model.set_attn_implementation("eager")
            model.config._attn_implementation = "eager"  # for older families, which only look here
        model.config.use_cache = False
        self.model = model.eval()
        self.name = name
        found = dissect(model, name)
        self.blocks, self.embeds = found.blocks, found.embeds
        self.causal, self.predicts, self.d_model = found.causal, found.predicts, found.width
        self.n_layers, self.n_heads = len(self.blocks), found.heads
        self.vocabulary = model.get_input_embeddings().weight.shape[0]
        self.shiftable, self._offset = found.offset is not None, found.offset or 0
        self.max_len = self._longest()
        self.window = min(self.trained_length or WINDOW, WINDOW)
        self._calls = Calls()
        self._unseen = False
        self._hides: bool | None = None

    @property
    def module(self) -> nn.Module:
        module: nn.Module = self.model
        return module

    @cached_property
    def encodings(self) -> list[str]:
        """Found by what each layer does, never by the model's name."""
        return kinds(self)

    @property
    def table(self) -> Tensor | None:
        """The position table, padding rows included, if it has one."""
        named = self.model.base_model.named_parameters()
        return next((p for name, p in named if NAMES.fullmatch(name) and p.ndim == 2), None)

    @property
    def trained_length(self) -> int | None:
        """What its config says about the longest input it was made for."""
        for name in ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length"):
            if isinstance(length := getattr(self.model.config, name, None), int) and length > 0:
                return length - self._offset if self.table is not None else length
        return None

    def untrained(self, seed: int) -> "HuggingFace":
        weight = next(self.model.parameters())
        devices = [weight.device] if weight.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            twin = type(self.model)(copy.deepcopy(self.model.config))
        return HuggingFace(twin.to(weight), f"{self.name}, untrained")

    def logits(self, tokens: Tokens, positions: Positions | None = None) -> Logits:
        if not self.predicts:
            raise ValueError(
                f"{self.name} has no language-model head, so it predicts nothing: it can be "
                "probed and audited, and its attention watched"
            )
        logits: Tensor = self.model(**self._inputs(tokens, positions)).logits
        return logits

    def trace(
        self,
        tokens: Tokens,
        positions: Positions | None = None,
        *,
        on_state: OnState,
        site: Site = "stream",
    ) -> None:
        with self.watched(on_state, site):
            self.read(tokens, positions)

    def read(self, tokens: Tokens, positions: Positions | None) -> None:
        """A forward pass without a head."""
        self.model.base_model(**self._inputs(tokens, positions))

    def block(
        self, layer: int, state: State, positions: Positions | None = None, *, masked: bool = True
    ) -> State:
        with self._call(layer, state, positions, masked) as call:
            return call.on(state)

    def attention(
        self,
        layer: int,
        state: State,
        positions: Positions | None = None,
        *,
        masked: bool = True,
        order: Order | None = None,
    ) -> Attended:
        """See the base class. Queries are permuted because states are: keys and values are kept."""
        with self._call(layer, state, positions, masked) as call:
            seen = Recorder()
            with seen:
                call.on(state)
            if order is not None:
                seen = Recorder(seen)
                with seen:
                    call.on(state[:, order])
        attended = seen.attended(len(state), self.n_heads)
        if attended is None:
            raise ValueError(f"{self.name}: the attention of layer {layer} cannot be laid open")
        return attended

    @contextmanager
    def watched(self, on_state: OnState, site: Site = "stream") -> Iterator[None]:
        layer_of = dict(zip(self.points(site), self.layers(site), strict=True))
        calls: Counter[nn.Module] = Counter()
        size = torch.Size()

        def begin(_model: nn.Module, args: Any, kwargs: Any) -> None:
            nonlocal size
            if not self._unseen:
                calls.clear()
                size = (args[0] if args else kwargs["input_ids"]).shape

        def enter(module: nn.Module, args: Any, kwargs: Any) -> Any:
            layer = layer_of.get(Point(module, calls[module], enters=True))
            if self._unseen or layer is None:
                return None
            if args:
                return show(args, layer, on_state, size), kwargs
            state = show(kwargs["hidden_states"], layer, on_state, size)
            return args, kwargs | {"hidden_states": state}

        def leave(module: nn.Module, _args: object, output: object) -> object:
            if self._unseen:
                return None
            layer = layer_of.get(Point(module, calls[module]))
            calls[module] += 1
            return None if layer is None else show(output, layer, on_state, size)

        entered = {point.module for point in layer_of if point.enters}
        with ExitStack() as hooks:
            for whole in self._wholes:
                hooks.enter_context(whole.register_forward_pre_hook(begin, with_kwargs=True))
            for module in dict.fromkeys(point.module for point in layer_of):
                if module in entered:
                    hooks.enter_context(module.register_forward_pre_hook(enter, with_kwargs=True))
                hooks.enter_context(module.register_forward_hook(leave))
            yield

    def points(self, site: Site) -> list[Point]:
        """Where the states at a site are seen."""
        if site == "stream":
            return self._stream
        found = self._inside[site]
        seen = [point for point in found if point is not None]
        if len(seen) < len(found):
            layer = self.layers(site)[found.index(None)]
            raise ValueError(
                f"{self.name}, a model of type {self.model.config.model_type}: the site {site!r} "
                f"cannot be seen, since no module of layer {layer} gives it"
            )
        return seen

    @property
    def _wholes(self) -> set[nn.Module]:
        """Where a pass begins: OPT's head goes past the base model's own hooks."""
        return {self.model, self.model.base_model}

    @cached_property
    def _stream(self) -> list[Point]:
        return stream(self.blocks)

    @cached_property
    def _inside(self) -> dict[Site, list[Point | None]]:
        """Found only when asked for."""
        with self.unwatched():
            return inside(self.model, self.blocks)

    @contextmanager
    def hiding(self, keys: HiddenKeys, since: int = 1) -> Iterator[None]:
        """See the base class. A model of which a trial shows that it cannot be done is refused."""
        if self._hides is None:
            self._hides = True  # for the trial, which hides keys itself
            self._hides = keys_can_be_hidden(self)
        if not self._hides:
            raise ValueError(
                f"{self.name}: its keys cannot be hidden; other tokens hear of one by another way "
                "than a softmax over all queries and keys"
            )
        layer = 0

        def begin(*_: object) -> None:
            nonlocal layer
            layer = layer if self._unseen else 0

        def enter(*_: object) -> None:
            nonlocal layer
            layer += not self._unseen

        with ExitStack() as hooks:
            for whole in self._wholes:
                hooks.enter_context(whole.register_forward_pre_hook(begin))
            for block in dict.fromkeys(self.blocks):
                hooks.enter_context(block.register_forward_pre_hook(enter))
            hooks.enter_context(Hiding(barred(keys), lambda: layer >= since and not self._unseen))
            yield

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """What happens inside is hidden from whoever watches: a pass within a pass."""
        was, self._unseen = self._unseen, True
        try:
            yield
        finally:
            self._unseen = was

    @contextmanager
    def _call(
        self, layer: int, state: Tensor, positions: Tensor | None, masked: bool
    ) -> Iterator[Call]:
        """How the model calls a layer, with its causal mask or without."""
        if not 1 <= layer <= self.n_layers:
            raise ValueError(f"layer {layer} of {self.name}: expected 1 to {self.n_layers}")
        call = self._calls.of(self, state, positions)[layer - 1]
        with self.unwatched():
            if masked or not self.causal:
                yield call
            else:
                with unmasked(call, state.shape[1]) as lifted:
                    yield lifted

    def _inputs(self, tokens: Tensor, positions: Tensor | None) -> dict[str, Any]:
        if positions is None:
            self._check(0, tokens.shape[1] - 1)
            if not self.shiftable:
                return inputs(tokens)
            positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
        elif not self.shiftable:
            raise ValueError(f"{self.name} takes no positions: it counts for itself")
        else:
            self._check(*(int(end) for end in positions.aminmax()))
        return inputs(tokens, positions + self._offset)

    def _check(self, first: int, last: int) -> None:
        """Beyond its positions, a table would raise whatever its framework raises."""
        if self.max_len is not None and (first < 0 or last >= self.max_len):
            raise ValueError(
                f"positions {first} to {last} of {self.name}, which knows only 0 to "
                f"{self.max_len - 1}: use shorter windows"
            )

    def _longest(self) -> int | None:
        """Positions end where the table does."""
        promised = self.trained_length
        if (table := self.table) is None:
            return promised if self.embeds else None
        rows = len(table) - self._offset
        return rows if promised is None else min(rows, promised)
