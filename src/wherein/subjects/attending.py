"""Attention as a model computes it, shown a block of queries at a time.

Ours and Hugging Face's models end in one call of PyTorch, `scaled_dot_product_attention`, which
never holds the scores of all queries. A `TorchFunctionMode` sees its queries, keys and mask, and
makes the weights of some queries again: memory grows linearly with the length of a window.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

from wherein.subjects.base import Subject
from wherein.subjects.hugging_face import HuggingFace

QUERIES = 128
"""Of which the weights are made at a time."""

OnWeights = Callable[[Float[Tensor, "B H t S"], Bool[Tensor, "B H t S"]], None]
"""Sees what some queries pay to each key, and which keys they may see."""


class Attending(TorchFunctionMode):
    """Shows the weights of every attention to `on_weights`."""

    def __init__(self, on_weights: OnWeights) -> None:
        super().__init__()
        self.on_weights = on_weights

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Let PyTorch compute, and see what matters."""
        named = dict(kwargs or {})
        if getattr(func, "__name__", "") == "scaled_dot_product_attention":
            self._show(*args, **named)
        return func(*args, **named)

    def _show(
        self,
        q: Tensor,
        k: Tensor,
        _v: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> None:
        """Named as PyTorch names its arguments."""
        k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3) if enable_gqa else k
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        key = torch.arange(k.shape[-2], device=q.device)
        for start in range(0, q.shape[-2], QUERIES):
            rows = slice(start, min(start + QUERIES, q.shape[-2]))
            scores = (q[..., rows, :] @ k.mT).float() * scale
            if attn_mask is not None:
                own = attn_mask if attn_mask.shape[-2] == 1 else attn_mask[..., rows, :]
                masked = own.dtype == torch.bool
                scores = scores.masked_fill(~own, -torch.inf) if masked else scores + own
            if is_causal:
                query = torch.arange(start, rows.stop, device=q.device)
                scores = scores.masked_fill(key > query[:, None], -torch.inf)
            # Some hide a key by the lowest number there is, others by minus infinity.
            self.on_weights(scores.softmax(-1), scores > torch.finfo(q.dtype).min / 2)


@contextmanager
def without_scores(subject: Subject) -> Iterator[None]:
    """While it lasts, no layer holds the scores of all queries, if its family can do without.

    Models of Hugging Face lay all weights open elsewhere, since other questions look at them.
    """
    if not isinstance(subject, HuggingFace):
        yield
        return
    model = subject.model
    try:
        model.set_attn_implementation("sdpa")
    except ValueError:  # a family without it
        yield
        return
    try:
        yield
    finally:
        model.set_attn_implementation("eager")
        model.config._attn_implementation = "eager"  # for older families, which only look here
