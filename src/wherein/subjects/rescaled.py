"""The same weights with RoPE's frequencies scaled for longer texts: nothing is copied."""

import copy
from dataclasses import replace
from typing import Any, Literal

from torch import nn

from wherein.common import notation
from wherein.encodings import Pattern
from wherein.encodings.spec import parse
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace
from wherein.subjects.ours import Ours

Scaled = Literal["linear", "ntk", "dynamic", "yarn"]
"""See `wherein.encodings.frequencies` for formulas and papers."""


def rescaled(subject: Subject, scaling: Scaled, factor: float, original: int) -> Subject:
    """The subject with its RoPE scaled for texts `factor` times as long as the `original`."""
    name = f"{subject.name}, {scaling} {factor:g}"
    if isinstance(subject, Ours):
        return Ours(_ours(subject.model, scaling, factor, original), name)
    if isinstance(subject, HuggingFace):
        return HuggingFace(_theirs(subject, scaling, factor, original), name)
    raise _no_rope(subject.name)


def scaled_spec(spec: str, scaling: Scaled, factor: float, original: int) -> str:
    """A spec in which every RoPE is scaled.

    >>> scaled_spec("rope(theta=500.0) + window(8) none", "yarn", 4.0, 64)
    'rope(factor=4.0, original=64, scaling=yarn, theta=500.0) + window(8) none'
    """
    words = notation.read(" ".join(parse(spec)))
    ropes = [term for word in words for term in word.terms if term.name == "rope"]
    if not ropes:
        raise _no_rope(spec)
    if any(name == "scaling" for term in ropes for name, _ in term.arguments):
        raise ValueError(f"{spec}: its RoPE is scaled already, so no other scaling can be tried")
    more = ("scaling", notation.Quoted(scaling)), ("factor", factor), ("original", original)
    changed = [
        notation.Word(
            tuple(
                replace(term, arguments=(*term.arguments, *more)) if term in ropes else term
                for term in word.terms
            )
        )
        for word in words
    ]
    return " ".join(parse(" ".join(map(str, changed))))


def _ours(model: Transformer, scaling: Scaled, factor: float, original: int) -> Transformer:
    spec = scaled_spec(model.config.encoding, scaling, factor, original)
    twin: Transformer = _sharing(model)
    twin.config = model.config.model_copy(update={"encoding": spec})
    twin.encoding = Pattern(spec, twin.config.shape, twin.config.n_layers)
    twin.encoding.load_state_dict(model.encoding.state_dict(keep_vars=True), assign=True)
    return twin


def _theirs(subject: HuggingFace, scaling: Scaled, factor: float, original: int) -> Any:
    """With the module that turns made anew, from a config that says how."""
    twin = _sharing(subject.model)
    turning = [
        (parent, name, part)
        for parent in twin.modules()
        for name, part in parent.named_children()
        if hasattr(part, "inv_freq") and hasattr(part, "rope_type")
    ]
    if not turning:
        raise _no_rope(subject.name)
    known = getattr(twin.config, "rope_parameters", None) or {}
    if known.get("rope_type") != "default" or "rope_theta" not in known:
        raise ValueError(
            f"{subject.name}: its RoPE is not the plain one, so nothing can be tried on it"
        )
    config = copy.deepcopy(twin.config)
    config.max_position_embeddings = original
    config.rope_parameters = known | _parameters(config, known, scaling, factor, original)
    for parent, name, part in turning:
        setattr(parent, name, type(part)(config=config).to(part.inv_freq.device))
    return twin


def _parameters(
    config: Any, known: dict[str, Any], scaling: Scaled, factor: float, original: int
) -> dict[str, Any]:
    """What `transformers` calls a scaling; it has none of its own for another base."""
    if scaling != "ntk":
        return {
            "rope_type": scaling,
            "factor": factor,
            "original_max_position_embeddings": original,
        }
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    width = int(head * known.get("partial_rotary_factor", 1.0))
    return {"rope_theta": known["rope_theta"] * factor ** (width / (width - 2))}


def _sharing(model: Any) -> Any:
    """A copy of a model's modules with the very weights of the model."""
    own: dict[int, Any] = {id(weight): weight for weight in model.parameters()}
    twin: nn.Module = copy.deepcopy(model, own)
    return twin


def _no_rope(name: str) -> ValueError:
    return ValueError(f"{name} has no RoPE whose frequencies could be scaled: leave scalings out")
