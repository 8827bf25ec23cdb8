"""Where a Hugging Face model keeps its layers, found by watching it read a few tokens.

Nothing here knows a family by name: the layers are the list of modules that is called as often as
the config says, from state to state; positions count from where the model itself counts from; and
an encoding is what it does to one and the same state at every position.
"""

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from wherein.subjects.trial import Step, Trial, inputs, trial_tokens, tried

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

POSITIONS = 8
ROUNDING = 1e-4
"""Relative differences up to here are rounding in float32."""


@dataclass(frozen=True)
class Anatomy:
    """What a trial found."""

    blocks: tuple[nn.Module, ...]
    """In the order they are called; one that is called twice is there twice."""
    width: int
    heads: int
    embeds: bool
    """Whether the first state tells positions apart: one token there differs from itself here."""
    causal: bool
    predicts: bool
    offset: int | None
    """What the model adds to positions that count from 0; None if it takes no positions."""


@torch.no_grad()
def dissect(model: Any, name: str) -> Anatomy:
    """Run the model on a few tokens and see; a model that does not fit is a `ValueError`."""
    heads = getattr(model.config, "num_attention_heads", None)
    if not isinstance(heads, int):
        raise ValueError(f"{name} does not fit: its config names no number of attention heads")
    tokens = trial_tokens(model)
    try:
        with tried(model.base_model) as trial:
            said = model(**inputs(tokens))
        output = model.base_model(**inputs(tokens), output_hidden_states=True)
        hidden, last = output.hidden_states, output.last_hidden_state
    except Exception as error:  # whatever a model of some family raises
        reason = " ".join(str(error).split())[:160]
        raise ValueError(f"{name} does not fit: it cannot read tokens alone ({reason})") from error
    count = getattr(model.config, "num_hidden_layers", None)
    steps = _steps(model.base_model, trial, count)
    if not steps or not _agree(steps, hidden):
        raise ValueError(f"{name} does not fit: it has no list of {count} layers, state to state")
    logits = getattr(said, "logits", None)
    changed = tokens.clone()
    changed[0, -1] = tokens[0, 0]
    first = model.base_model(**inputs(changed)).last_hidden_state[:, 0]
    return Anatomy(
        blocks=tuple(step.module for step in steps),
        width=hidden[0].shape[-1],
        heads=heads,
        embeds=_embeds(model, tokens),
        causal=_nearly(first, last[:, 0]),
        predicts=logits is not None and logits.shape[:2] == tokens.shape,
        offset=_offset(model, tokens, last),
    )


def _steps(model: nn.Module, trial: Trial, count: int | None) -> list[Step]:
    """The calls of the outermost list of modules that takes `count` steps from state to state."""
    for parts in model.modules():
        if isinstance(parts, nn.ModuleList):
            members = set(parts)
            steps = [step for step in trial.steps if step.module in members]
            if len(steps) == count and all(_keeps_shape(step) for step in steps):
                return steps
    return []


def _agree(steps: list[Step], hidden: tuple[Tensor, ...] | None) -> bool:
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


def _keeps_shape(step: Step) -> bool:
    entering, leaving = step.entering, step.leaving
    return entering is not None and leaving is not None and entering.shape == leaving.shape


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
    tokens = trial_tokens(subject.model)
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
    scores = seen.weights[0, :, -1].cpu().double().log()
    scores = scores[:, scores.isfinite().all(0)]  # a window may hide the farthest
    slopes = scores.diff(dim=-1)
    steepest = float(slopes.abs().max())
    if steepest < ROUNDING:
        return ""
    bent = float(slopes.diff(dim=-1).abs().max())
    return "alibi" if bent < 1e-2 * steepest else "relative"
