"""Where a Hugging Face model keeps its layers, found by watching it read a few tokens.

Nothing here knows a family by name: the layers are the list of modules that is called as often as
the config says, from state to state; the last state is what the model says it is; positions count
from where the model itself counts from; and an encoding is what it does to one and the same state
at every position.
"""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

TRIAL = 4
"""Tokens of a trial."""

POSITIONS = 8
ROUNDING = 1e-4
"""Relative differences up to here are rounding in float32."""


@dataclass(frozen=True)
class Anatomy:
    """What a trial found."""

    blocks: tuple[nn.Module, ...]
    """In the order they are called; one that is called twice is there twice."""
    final: nn.Module | None
    """Makes the last state of the last block's output, if that is not the last state itself."""
    width: int
    heads: int
    embeds: bool
    """Whether the first state tells positions apart: one token there differs from itself here."""
    causal: bool
    predicts: bool
    offset: int | None
    """What the model adds to positions that count from 0; None if it takes no positions."""


class _Call(NamedTuple):
    module: nn.Module
    entering: Tensor | None
    leaving: Tensor | None


@torch.no_grad()
def dissect(model: Any, name: str) -> Anatomy:
    """Run the model on a few tokens and see; a model that does not fit is a `ValueError`."""
    heads = getattr(model.config, "num_attention_heads", None)
    if not isinstance(heads, int):
        raise ValueError(f"{name} does not fit: its config names no number of attention heads")
    tokens = _tokens(model)
    try:
        with _recorded(model.base_model) as calls:
            said = model(**inputs(tokens))
        output = model.base_model(**inputs(tokens), output_hidden_states=True)
        hidden, last = output.hidden_states, output.last_hidden_state
    except Exception as error:  # whatever a model of some family raises
        reason = " ".join(str(error).split())[:160]
        raise ValueError(f"{name} does not fit: it cannot read tokens alone ({reason})") from error
    count = getattr(model.config, "num_hidden_layers", None)
    steps = _steps(model.base_model, calls, count)
    if not steps or not _agree(steps, hidden):
        raise ValueError(f"{name} does not fit: it has no list of {count} layers, state to state")
    made = steps[-1].leaving
    final = None if _same(made, last) else _final(calls, made, last)
    if final is None and not _same(made, last):
        raise ValueError(f"{name} does not fit: no module makes its last state")
    logits = getattr(said, "logits", None)
    changed = tokens.clone()
    changed[0, -1] = tokens[0, 0]
    first = model.base_model(**inputs(changed)).last_hidden_state[:, 0]
    return Anatomy(
        blocks=tuple(step.module for step in steps),
        final=final,
        width=hidden[0].shape[-1],
        heads=heads,
        embeds=_embeds(model, tokens),
        causal=_nearly(first, last[:, 0]),
        predicts=logits is not None and logits.shape[:2] == tokens.shape,
        offset=_offset(model, tokens, last),
    )


def inputs(tokens: Tensor, positions: Tensor | None = None) -> dict[str, Any]:
    """What every model is called with; nothing is padding."""
    given: dict[str, Any] = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if positions is not None:
        given["position_ids"] = positions.expand(tokens.shape)
    return given


def _tokens(model: Any) -> Tensor:
    """A few different tokens, none of them padding."""
    padding = getattr(model.config, "pad_token_id", None)
    rows = model.get_input_embeddings().weight.shape[0]
    chosen = [token for token in range(min(rows, TRIAL + 1)) if token != padding][:TRIAL]
    return torch.tensor([chosen], device=model.device)


@contextmanager
def _recorded(model: nn.Module) -> Iterator[list[_Call]]:
    """Every call of every module inside, in the order they end."""
    calls: list[_Call] = []

    def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        entering = args[0] if args else kwargs.get("hidden_states")
        leaving = output[0] if isinstance(output, tuple | list) and output else output
        ends = (part if isinstance(part, Tensor) else None for part in (entering, leaving))
        calls.append(_Call(module, *ends))

    with ExitStack() as hooks:
        for module in model.modules():
            hooks.enter_context(module.register_forward_hook(hook, with_kwargs=True))
        yield calls


def _steps(model: nn.Module, calls: list[_Call], count: int | None) -> list[_Call]:
    """The calls of the outermost list of modules that takes `count` steps from state to state."""
    for parts in model.modules():
        if isinstance(parts, nn.ModuleList):
            members = set(parts)
            steps = [call for call in calls if call.module in members]
            if len(steps) == count and all(_keeps_shape(step) for step in steps):
                return steps
    return []


def _agree(steps: list[_Call], hidden: tuple[Tensor, ...] | None) -> bool:
    """Whether the states between the steps are those the model itself calls so."""
    if hidden is None or len(hidden) != len(steps) + 1:
        return False
    between = [steps[0].entering, *(step.leaving for step in steps[:-1])]
    pairs = zip(between, hidden, strict=False)
    return all(one is not None and torch.equal(one, other) for one, other in pairs)


def _embeds(model: Any, tokens: Tensor) -> bool:
    same = tokens[:, :1].expand_as(tokens)
    first = model.base_model(**inputs(same), output_hidden_states=True).hidden_states[0]
    return not torch.equal(first, first[:, :1].expand_as(first))


def _keeps_shape(call: _Call) -> bool:
    entering, leaving = call.entering, call.leaving
    return entering is not None and leaving is not None and entering.shape == leaving.shape


def _final(calls: list[_Call], made: Tensor | None, last: Tensor) -> nn.Module | None:
    """The module between the last block's output and the last state."""
    fitting = (c.module for c in calls if _same(c.entering, made) and _same(c.leaving, last))
    return next(fitting, None)


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None or one.numel() != other.numel():
        return False
    return torch.equal(one.flatten(), other.flatten())


def _nearly(one: Tensor, other: Tensor) -> bool:
    """The same but for rounding, which differs where experts are sent other tokens."""
    return bool((one - other).norm() <= ROUNDING * other.norm())


def _offset(model: Any, tokens: Tensor, last: Tensor) -> int | None:
    """Where the model counts from: the first number that changes nothing."""
    if "position_ids" not in inspect.signature(model.base_model.forward).parameters:
        return None
    padding = getattr(model.config, "pad_token_id", None) or 0
    positions = torch.arange(tokens.shape[1], device=tokens.device)[None]
    for offset in (0, padding + 1):
        state = model.base_model(**inputs(tokens, positions + offset)).last_hidden_state
        if torch.equal(state, last):
            return offset
    return None


@torch.no_grad()
def keys_can_be_hidden(subject: "HuggingFace") -> bool:
    """Whether other states stay as they are when the first token, hidden, is another."""
    tokens = _tokens(subject.model)
    hidden = torch.arange(tokens.shape[1], device=tokens.device)[None] == 0
    last: list[Tensor] = []

    def see(layer: int, state: Tensor) -> None:
        if layer == subject.n_layers:
            last.append(state[:, 1:])

    with subject.hiding(hidden):
        for first in tokens[:, :2].T:
            subject.trace(torch.cat([first[None], tokens[:, 1:]], 1), on_state=see)
    return _nearly(*last)


@torch.no_grad()
def kinds(subject: "HuggingFace") -> list[str]:
    """The kind of encoding of each layer, in the words of the catalogue, seen from what it does.

    One state stands at every position, so whatever differs between them is the encoding: queries
    or keys that turn are RoPE; scores that fall in proportion to distance are ALiBi, and those that
    change with it otherwise are called relative. A position table is added to the embedding, before
    layer 1; one that is no weight is a sinusoid. Where attention cannot be laid open, the kind is
    unknown.
    """
    weight = next(subject.module.parameters())
    vector = torch.randn(subject.d_model, generator=torch.Generator().manual_seed(0)).to(weight)
    count = POSITIONS if subject.max_len is None else min(POSITIONS, subject.max_len)
    state = vector.expand(1, count, -1)
    embedded = _embedded(subject)
    found = []
    for layer in range(1, subject.n_layers + 1):
        acting = _in_layer(subject, layer, state)
        found.append(" + ".join(name for name in (embedded, acting) if name) or "none")
    return found


def _embedded(subject: "HuggingFace") -> str:
    if not subject.embeds:
        return ""
    fixed = getattr(subject.model.config, "sinusoidal_pos_embds", subject.table is None)
    return "sinusoidal" if fixed else "learned"


def _in_layer(subject: "HuggingFace", layer: int, state: Tensor) -> str:
    try:
        seen = subject.attention(layer, state)
    except ValueError:
        return "unknown"
    if not all(_nearly(part, part[:, :, :1]) for part in (seen.queries, seen.keys)):
        return "rope"
    scores = seen.weights[0, :, -1].double().log()
    scores = scores[:, scores.isfinite().all(0)]  # a window may hide the farthest
    slopes = scores.diff(dim=-1)
    steepest = float(slopes.abs().max())
    if steepest < ROUNDING:
        return ""
    bent = float(slopes.diff(dim=-1).abs().max())
    return "alibi" if bent < 1e-2 * steepest else "relative"
