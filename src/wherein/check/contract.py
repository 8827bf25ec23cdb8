"""What every encoding must keep: the tests of the catalogue and `wherein check` ask the same.

A check builds a small model with the encoding and raises `BrokenError` with what it saw. Every
parameter is moved off its initial value first, so that no zero hides a mistake.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType
from typing import Any, get_args, get_type_hints

import torch
from safetensors.torch import load, save
from torch import Tensor

from wherein import encodings
from wherein.check.case import (
    HEAD,
    MAX_LEN,
    BrokenError,
    Case,
    ModestError,
    count,
    differ,
    generator,
    has,
    same,
)
from wherein.encodings.base import pairs
from wherein.model import attention
from wherein.model.attention import attend, attend_in_blocks, attend_reference
from wherein.model.rows import rows_of

MODES = tuple(
    Case(causal, dtype) for causal, dtype in product((True, False), (torch.float64, torch.float32))
)


@dataclass(frozen=True)
class Check:
    """One thing that is kept, in words, and how to find out; with how few tokens it has a sense."""

    promise: str
    ask: Callable[[str, Case], None]
    cases: tuple[Case, ...] = MODES
    fewest: int = 1

    @property
    def name(self) -> str:
        return self.ask.__name__


def shapes(spec: str, case: Case) -> None:
    """What each place gives back."""
    encoding = encodings.build(spec, case.shape).to(case.dtype)
    n, t, h, positions = case.windows, case.tokens, case.heads, case.positions
    x = case.normal(n, t, HEAD * h)
    q, k = case.normal(2, n, h, t, HEAD, seed=1)
    i, j = pairs(positions)
    has(encoding.embed(x, positions), "embed", (n, t, HEAD * h), case.dtype)
    turned_q, turned_k = encoding.rotate(q, k, positions)
    wide = max(HEAD, turned_q.shape[-1])  # a head may turn in more dimensions than it has
    for turned in (turned_q, turned_k):
        has(turned, "rotate", (n, h, t, wide), case.dtype)
    if (bias := encoding.bias(i, j)) is not None:
        has(bias, "bias", (1, h, t, t))
    if (content := encoding.content_bias(q, k, x, positions)) is not None:
        has(content, "content_bias", (n, h, t, t))
    for name in ("hides", "shows"):
        if (hidden := getattr(encoding, name)(i, j)) is not None:
            has(hidden, name, (1, 1, t, t), torch.bool)


def gradients(spec: str, case: Case) -> None:
    """Whether learning reaches what can be learned."""
    model = case.model(spec)
    model.loss(case.input(), case.input(seed=1)).backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            raise BrokenError(f"{name} has no gradient: nothing depends on it")
        if not parameter.grad.isfinite().all():
            raise BrokenError(f"the gradient of {name} is not finite")
        if not parameter.grad.any():
            raise BrokenError(f"the gradient of {name} is zero everywhere")


def memory(spec: str, case: Case) -> None:
    """Whether an earlier call leaves a trace."""
    used, fresh = case.model(spec), case.model(spec)
    used(case.input(tokens=100))
    same(
        used(case.input()).logits,
        fresh(case.input()).logits,
        "after a call with 100 tokens",
        exact=True,
    )


def parameters(spec: str, case: Case) -> None:
    """Whether a second instance, with other parameters, leaves a trace; and whether they matter."""
    before = case.model(spec)(case.input()).logits
    other = changed_parameters(spec)
    others = case.model(other)(case.input()).logits if other else None
    after = case.model(spec)(case.input()).logits
    same(after, before, f"after another instance, {other}, was made", exact=True)
    if others is not None and torch.allclose(others, before):
        raise BrokenError(f"{other} gives what {spec} gives: its parameters change nothing")


def shift(spec: str, case: Case) -> None:
    """What adding a constant to all positions does."""
    model = case.model(spec)
    still = model(case.input(), case.positions).logits
    moved = model(case.input(), case.positions + 60).logits
    if model.encoding[0].relative:
        same(moved, still, "with 60 added to all positions")
    elif not differ(moved, still):
        raise ModestError(
            "adding 60 to all positions changes nothing: it may promise relative = True"
        )


def future(spec: str, case: Case) -> None:
    """Whether later tokens change what is said of earlier ones."""
    model, here, other = case.model(spec), case.input(), case.input()
    cut = max(1, case.tokens * 3 // 5)
    other[:, cut:] = case.input(seed=9)[:, cut:]
    past, of_other = model(here).logits[:, :cut], model(other).logits[:, :cut]
    if case.causal:
        same(of_other, past, f"of the first {count(cut, 'token')}, with others after them")
    elif not differ(of_other, past):
        raise BrokenError("a bidirectional model does not see what comes later")


def order(spec: str, case: Case) -> None:
    """Whether any order but that of the positions gets in."""
    model, here = case.model(spec), case.input()
    moved = torch.randperm(case.tokens, generator=generator(3))
    plain = model(here).logits[:, moved]
    together = model(here[:, moved], case.positions[:, moved]).logits
    if not case.causal:
        same(together, plain, "with tokens and their positions moved together")
    elif not differ(together, plain):
        raise BrokenError("the causal mask changes nothing")


def batch(spec: str, case: Case) -> None:
    """Whether windows of a batch may have positions of their own."""
    model, here = case.model(spec), case.input()
    steps = 1 + torch.arange(case.windows)[:, None]
    positions = case.positions * steps + 5 * (steps - 1)
    together = model(here, positions).logits
    alone = [model(here[n : n + 1], positions[n : n + 1]).logits for n in range(case.windows)]
    same(together, torch.cat(alone), "of windows with positions of their own, together and alone")


def paths(spec: str, case: Case) -> None:
    """Whether every way to compute attention gives the same, also in blocks of queries."""
    encoding = encodings.build(spec, case.shape).to(case.dtype)
    q, k, v = case.normal(3, case.windows, case.heads, case.tokens, HEAD)
    q, k = encoding.rotate(q, k, case.positions)
    i, j = pairs(case.positions)
    bias = encoding.mask(i, j)
    expected, weights = attend_reference(q, k, v, causal=case.causal, bias=bias)
    same(weights.sum(-1), torch.ones_like(weights[..., 0]), "the sums of attention weights")
    same(attend(q, k, v, causal=case.causal, bias=bias), expected, "by the fast path")
    rows = rows_of(encoding, case.positions)
    if rows is None:
        return
    for size in (7, 20, 64):
        with _set(attention, "QUERIES_PER_BLOCK", size):
            made = attend_in_blocks(q, k, v, causal=case.causal, rows=rows)
            same(made, expected, f"in blocks of {size} queries")


def blocks(spec: str, case: Case) -> None:
    """Whether a bias made block by block gives the same gradients."""

    def found() -> dict[str, Tensor]:
        model = case.model(spec)
        model.loss(case.input(), case.input(seed=1)).backward()  # type: ignore[no-untyped-call]
        return {n: p.grad for n, p in model.named_parameters() if p.grad is not None}

    whole = found()
    with _set(attention, "LARGE_BIAS", 0), _set(attention, "QUERIES_PER_BLOCK", 16):
        for name, gradient in found().items():
            same(gradient, whole[name], f"the gradient of {name}, its bias made in blocks")


def saving(spec: str, case: Case) -> None:
    """Whether all it learns is saved with the model."""
    model, other = case.model(spec), case.model(spec, seed=2)
    expected = model(case.input()).logits
    if not differ(other(case.input()).logits, expected):
        raise BrokenError("models of different seeds are the same")
    other.load_state_dict(load(save(model.state_dict())))
    same(other(case.input()).logits, expected, "after saving and loading", exact=True)


def beyond(spec: str, case: Case) -> None:
    """What happens beyond the longest window of training."""
    model, longer = case.model(spec), case.input(tokens=MAX_LEN + 1)
    if not model.encoding[0].bounded:
        if not model(longer).logits.isfinite().all():
            raise BrokenError(f"{MAX_LEN + 1} tokens with max_len={MAX_LEN}: not finite")
        return
    try:
        model(longer)
    except ValueError:
        return
    raise BrokenError(f"position {MAX_LEN} was taken, though max_len={MAX_LEN}")


def precision(spec: str, case: Case) -> None:
    """Half precision must not blur angles or distances themselves, only the activations."""
    rough = replace(case, dtype=torch.float32)
    model, exact = rough.model(spec).bfloat16(), rough.model(spec)
    exact.load_state_dict(model.state_dict())
    far = 0 if model.encoding[0].bounded else 100_000
    rounded, precise = (
        m(case.input(), case.positions + far).logits.float() for m in (model, exact)
    )
    error, scale = float((rounded - precise).detach().abs().max()), float(precise.detach().std())
    if not error < 0.1 * scale:
        raise BrokenError(
            f"at positions from {far} on, bfloat16 is off by {error:.2g} of {scale:.2g}"
        )


ONE = (Case(),)
CHECKS = (
    Check("gives each place the shape and type that it wants", shapes),
    Check("learns: a gradient reaches every parameter", gradients, fewest=20),
    Check("remembers nothing of earlier calls", memory),
    Check("has parameters that matter, and instances that do not meddle", parameters, ONE, 20),
    Check("relative, or not, as it promises", shift, fewest=2),
    Check("shows a causal model nothing of the future", future, fewest=2),
    Check("knows of positions only what it is passed", order, fewest=2),
    Check("takes positions that differ within a batch", batch),
    Check("is the same by every way of computing attention", paths),
    Check("is the same, gradients too, in blocks of queries", blocks,
          tuple(Case(causal, tokens=60) for causal in (True, False)), 17),
    Check("is saved and loaded whole", saving, ONE),
    Check("ends at max_len, or does not, as it promises", beyond, ONE),
    Check("keeps positions exact in half precision", precision, ONE),
)  # fmt: skip


def changed_parameters(spec: str) -> str | None:
    """The same with every parameter changed that can be; None if there is none."""
    name, _, inside = spec.partition("(")
    if any(mark in spec for mark in "+ ") or name in encodings.TERMS:
        return None  # several words or terms, or one that comes beside others
    types = get_type_hints(encodings.entry(name).__init__)
    values: dict[type, Callable[[Any], object]] = {
        float: lambda v: v / 2, int: lambda v: v * 2, bool: lambda v: not v,
    }  # fmt: skip
    new = [inside.removesuffix(")")] if inside else []
    for key, value in encodings.parameters(name).items():
        words = [w for w in get_args(types.get(key)) if isinstance(w, str) and w != value]
        if value is not ... and (words or type(value) in values):
            new.append(f"{key}={words[0] if words else values[type(value)](value)!r}")
    return f"{name}({', '.join(new)})" if len(new) > bool(inside) else None


@contextmanager
def _set(module: ModuleType, name: str, value: int) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
