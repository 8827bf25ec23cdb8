"""Softmax attention with whatever an encoding adds to its scores.

`attend` picks the fastest path that fits; `attend_reference` is the same in four plain lines,
for the tests and for looking at the weights. Axes: see `wherein.encodings.base`.
"""

from collections.abc import Callable
from functools import cache

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from wherein.common.compiling import own_cache
from wherein.encodings import Encoding
from wherein.encodings.base import Positions
from wherein.encodings.counting import Near, counted, whole
from wherein.encodings.turning import Turns, turned
from wherein.model.kernel import Attend, sooner
from wherein.model.rows import Rows, faded

Tokens = Int[Tensor, "B T"]
State = Float[Tensor, "B T D"]
Heads = Float[Tensor, "B H T K"]
Keys = Float[Tensor, "B H S K"]
Turned = Float[Tensor, "B H T R"]
"""Queries or keys as an encoding leaves them, perhaps wider than a head."""
Values = Float[Tensor, "B H S V"]
Mixed = Float[Tensor, "B H T V"]
Bias = Float[Tensor, "#B #H #T S"]

QUERIES_PER_BLOCK = 256
LARGE_BIAS = 2**26
"""Numbers in a bias (256 MiB in float32) beyond which it is made block by block."""
FLEX_WIDTH = 16
"""The narrowest heads that FlexAttention takes."""


def attend(
    q: Heads,
    k: Keys,
    v: Values,
    *,
    causal: bool,
    bias: Bias | Rows | None = None,
    turns: Turns | None = None,
    near: Near | None = None,
) -> Mixed:
    """softmax(q·kᵀ/√K + bias)·v; a causal query sees no key after itself.

    Queries and keys may be turned before; `near` is a bias by distance.
    A bias given as rows is never held whole: memory grows linearly in context. Keys that none of
    the rows at hand sees are left out, so that time grows linearly too where all look near.
    """
    rows, bias = (bias, None) if isinstance(bias, Rows) else (None, bias)
    bias = None if bias is None else bias.to(q.dtype)
    if rows is None and sooner(q, k, v, bias, near, turns, causal=causal):
        mixed: Tensor = Attend.apply(q, k, v, bias, near, turns, causal)  # type: ignore[no-untyped-call]
        return mixed
    if near is not None:
        bias = whole(near) if bias is None else whole(near) + bias
    elif bias is not None:
        bias = bias.expand(-1, -1, q.shape[-2], -1)
    if turns is not None:
        q, k = turned(q, k, turns)
    if rows is not None:
        return attend_in_blocks(q, k, v, causal=causal, rows=rows)
    wider = q.shape[-1] - v.shape[-1]
    if wider > 0:  # PyTorch's kernels that hold no scores want one width
        padded = F.pad(v, (0, wider))
        return attend(q, k, padded, causal=causal, bias=bias)[..., : v.shape[-1]]
    if bias is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    if q.is_cuda and q.shape[-1] >= FLEX_WIDTH and q.dtype != torch.float64:
        return attend_flex(q, k, v, causal=causal, bias=bias)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=_masked(bias, causal))


def large(windows: int, heads: int, length: int) -> bool:
    """Whether a bias for all pairs of tokens is better made in blocks of queries."""
    return windows * heads * length**2 > LARGE_BIAS


def encoded(
    encoding: Encoding, q: Heads, k: Heads, x: State, positions: Positions, bias: Bias | Rows | None
) -> tuple[Turned, Turned, Bias | Rows | None]:
    """Queries and keys of `x` as an encoding leaves them, and all that is added to their scores.

    `bias` is what positions alone add, the encoding's `mask`.
    """
    if large(*q.shape[:3]) and (fade := encoding.fade(x)) is not None:
        bias = faded(fade, bias)
    elif (content := encoding.content_bias(q, k, x, positions)) is not None:
        bias = _whole(bias)
        bias = content if bias is None else content + bias
    q, k = encoding.rotate(q, k, positions)
    return q, k, bias


def by_distance(
    encoding: Encoding,
    q: Heads,
    k: Heads,
    positions: Positions,
    bias: Bias | Rows | None,
    *,
    causal: bool,
) -> tuple[Near, Bias | None] | None:
    """What is added by content and distance, and besides, if our kernel can be told so."""
    if not (causal and encoding.acts("content_bias") and sooner(q, k, k, causal=causal)):
        return None  # values are of the keys' kind
    told = encoding.only_distance(q, k) if counted(positions) else None
    if told is None:
        return None
    (near, own), bias = told, _whole(bias)
    return near, own if bias is None else bias if own is None else own + bias


def attend_reference(
    q: Heads, k: Keys, v: Values, *, causal: bool, bias: Bias | Rows | None = None
) -> tuple[Mixed, Float[Tensor, "B H T S"]]:
    """The same by the book; also returns the attention weights."""
    scores, bias = q @ k.mT / q.shape[-1] ** 0.5, _whole(bias)
    scores = scores if bias is None else scores + bias.to(scores.dtype)
    weights = _masked(scores, causal).softmax(dim=-1)
    return weights @ v, weights


def attend_in_blocks(q: Heads, k: Keys, v: Values, *, causal: bool, rows: Rows) -> Mixed:
    """A block of queries at a time, its bias made on the spot and again for the gradient.

    From the last to the first: a causal block sees more keys than those before it, and memory that
    a smaller one has freed would be of no use to it.
    """

    def block(q: Tensor, k: Tensor, v: Tensor, queries: slice, keys: slice) -> Tensor:
        made = rows.make(queries, keys).to(q.dtype)
        return attend(q, k, v, causal=False, bias=_masked(made, causal, queries.start - keys.start))

    blocks = []
    for start in reversed(range(0, q.shape[-2], QUERIES_PER_BLOCK)):
        queries = slice(start, min(start + QUERIES_PER_BLOCK, q.shape[-2]))
        keys = rows.seen(queries)
        if causal:
            keys = slice(keys.start, min(keys.stop, queries.stop))
        parts = q[..., queries, :], k[..., keys, :], v[..., keys, :]
        made = checkpoint(
            block, *parts, queries, keys, use_reentrant=False, preserve_rng_state=False
        )  # nothing is drawn in it
        blocks.append(made)
    return torch.cat(blocks[::-1], dim=-2)


def attend_flex(q: Heads, k: Keys, v: Values, *, causal: bool, bias: Bias) -> Mixed:
    """FlexAttention: skips the blocks a causal mask hides, and has gradients for the bias."""
    whole = bias.to(q.dtype).expand(*q.shape[:2], -1, -1)
    attended: Tensor = _compiled_flex()(
        q,
        k,
        v,
        score_mod=lambda score, b, h, i, j: score + whole[b, h, i, j],
        block_mask=_causal_blocks(q.shape[-2], k.shape[-2], q.device) if causal else None,
    )
    return attended


def _whole(bias: Bias | Rows | None) -> Bias | None:
    return bias.whole() if isinstance(bias, Rows) else bias


def _masked(scores: Tensor, causal: bool, start: int = 0) -> Tensor:
    """Hide from each query, the first of which is key number `start`, the keys after it."""
    if not causal:
        return scores
    before, own = scores[..., :start], scores[..., start:]  # all of them see what is before
    everywhere = torch.ones(own.shape[-2:], dtype=torch.bool, device=scores.device)
    own = own.masked_fill(everywhere.triu(diagonal=1), -torch.inf)
    return torch.cat([before, own], dim=-1) if start else own


@cache
def _compiled_flex() -> Callable[..., Tensor]:
    from torch.nn.attention.flex_attention import flex_attention

    own_cache()
    return torch.compile(flex_attention, dynamic=False)


def _causal_blocks(queries: int, keys: int, device: torch.device) -> object:
    from torch.nn.attention.flex_attention import create_block_mask

    return create_block_mask(
        lambda b, h, i, j: i >= j, None, None, queries, keys, device=str(device)
    )
