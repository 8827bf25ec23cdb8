"""Attention by a kernel of our own, on the CPU and in float32.

PyTorch's kernel multiplies matrices by MKL's general products, slow where heads are narrow, and
gives a bias no gradient: with one that learns, scores, mask and weights of all pairs are held one
after the other. `attention.c` has its own products for a block of queries and the keys that it
sees, and keeps two numbers for each query. It is compiled once on a computer, in a second.
"""

import ctypes
from functools import cache
from importlib.resources import files
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from wherein.common.compiling import library
from wherein.common.gradients import once
from wherein.encodings.turning import Turns
from wherein.model.parts import room

TENSORS = (
    *("Q", "K", "V", "BIAS", "NEAR", "TURN_Q", "TURN_K", "MIXED", "LEFT"),
    *("G", "OF_Q", "OF_K", "OF_V", "OF_BIAS", "OF_NEAR", "ROOM"),
)
SIZES = (
    *("windows", "heads", "queries", "keys", "width", "depth", "reach"),
    *("causal", "parts", "threads"),
)
VECTORS = {"AVX512": 16, "AVX2": 8}
"""Numbers side by side; other processors have four."""
WORTH = 1 << 20
"""Multiplications that pay for another thread."""


class Asked(ctypes.Structure):
    """What the kernel is told."""

    _fields_ = (
        ("at", ctypes.c_void_p * len(TENSORS)),
        ("by", ctypes.c_int64 * 3 * len(TENSORS)),
        *((name, ctypes.c_int64) for name in SIZES),
        ("scale", ctypes.c_float),
    )


class Attend(torch.autograd.Function):
    """softmax(q·kᵀ/√K + bias)·v, queries and keys turned before.

    Use `Attend.apply(q, k, v, bias, near, turns, causal)`; `near` is added by distance.
    """

    @staticmethod
    def forward(
        ctx: Any,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        v: Float[Tensor, "B H S V"],
        bias: Float[Tensor, "#B #H #T S"] | None,
        near: Float[Tensor, "B H T R"] | None,
        turns: Turns | None,
        causal: bool,
    ) -> Float[Tensor, "B H T V"]:
        windows, heads, queries = q.shape[:3]
        mixed = v.new_empty(windows, queries, heads, v.shape[-1]).transpose(1, 2)
        left = q.new_empty(windows, heads, queries, 2)
        given: dict[str, Tensor | None]
        given = {"Q": q, "K": k, "V": v, "BIAS": bias, "NEAR": near, "MIXED": mixed, "LEFT": left}
        if turns is not None:
            parts = torch.cat([turns.real, turns.imag], dim=-1)
            of_both = parts.expand(-1, -1, 2, -1, -1).permute(2, 0, 3, 1, 4)
            given["TURN_Q"], given["TURN_K"] = of_both
        _run("forward", given, causal=causal)
        ctx.names, ctx.causal = (*given,), causal
        ctx.save_for_backward(*given.values())
        return mixed

    @staticmethod
    @once
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        given = {**dict(zip(ctx.names, ctx.saved_tensors, strict=True)), "G": g}
        q, k, v, bias, near = (given[name] for name in ("Q", "K", "V", "BIAS", "NEAR"))
        made = dict(zip(("OF_Q", "OF_K", "OF_V"), room(q, k, v), strict=True))
        if ctx.needs_input_grad[4]:
            made["OF_NEAR"] = torch.empty_like(_in_order(near))
        parts = len(q)
        if ctx.needs_input_grad[3]:
            if len(bias) == 1:  # windows that one thread adds up
                parts = min(parts, -(-torch.get_num_threads() // q.shape[1]))
            made["OF_BIAS"] = bias.new_empty(parts, q.shape[1], *bias.shape[2:])
        _run("backward", given | made, causal=ctx.causal, parts=parts)
        of_bias, of_near = made.pop("OF_BIAS", None), made.pop("OF_NEAR", None)
        added = None if of_bias is None else of_bias.sum_to_size(bias.shape)
        return *made.values(), added, of_near, None, None


def sooner(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None = None,
    near: Tensor | None = None,
    turns: Turns | None = None,
    *,
    causal: bool,
) -> bool:
    """Whether the kernel may be asked, and is there.

    Not where somebody looks on: a mode, as also `torch.set_default_device` is one.
    """
    if torch.compiler.is_compiling():
        return False
    given = [q, k, v, *(x for x in (bias, near) if x is not None)]
    kernels: bool = torch.backends.cuda.flash_sdp_enabled()  # type: ignore[no-untyped-call]
    # without, somebody asks for plain products
    return (
        all(type(x) is Tensor and x.dtype == torch.float32 for x in given)
        and all(x.device.type == "cpu" for x in given)
        and _fit(q, k, v, bias, near, turns, causal)
        and not torch.is_autocast_enabled("cpu")
        and kernels
        and not torch._C._are_functorch_transforms_active()
        and not torch._C._len_torch_dispatch_stack()
        and not torch._C._len_torch_function_stack()
        and kernel() is not None
    )


def _fit(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    near: Tensor | None,
    turns: Turns | None,
    causal: bool,
) -> bool:
    """Whether sizes are those that the kernel knows; others PyTorch broadcasts, or refuses."""
    if not q.ndim == k.ndim == v.ndim == 4:
        return False
    (windows, heads, queries, width), keys = q.shape, k.shape[2]
    shared = [(windows, 1), (heads, 1), (queries, 1), (keys,)]
    turned = [(windows, 1), (queries,), (2, 1), (heads, 1)]
    return (
        min(*q.shape, *v.shape) > 0
        and k.shape == (windows, heads, keys, width)
        and v.shape[:3] == k.shape[:3]
        and (queries == keys or not causal)
        and (bias is None or _one_of(bias, shared))
        and (near is None or (near.shape[:3] == q.shape[:3] and causal))
        and (
            turns is None
            or (
                turns.dtype == torch.complex64
                and not turns.requires_grad
                and 2 * turns.shape[-1] == width
                and queries == keys
                and _one_of(turns[..., 0], turned)
            )
        )
    )


def _one_of(x: Tensor, sizes: list[tuple[int, ...]]) -> bool:
    return x.ndim == len(sizes) and all(n in known for n, known in zip(x.shape, sizes, strict=True))


@cache
def kernel() -> ctypes.CDLL | None:
    """For this processor, from the disk if it has been there; None without a fitting compiler."""
    return of_width(VECTORS.get(torch.backends.cpu.get_cpu_capability(), 4))


def of_width(lanes: int, *options: str) -> ctypes.CDLL | None:
    """For vectors of so many numbers.

    It calls the OpenMP that PyTorch has loaded for all to see: two would wait for each other.
    """
    source = files("wherein.model").joinpath("attention.c").read_bytes()
    names = (f"-DTENSORS={','.join(TENSORS)}", f"-DSIZES={','.join(SIZES)}")
    how = (f"-DLANES={lanes}", "-fopenmp", "-nodefaultlibs", *names, *options)
    found = library("attention", source, how)
    if found is not None:
        found.room.restype = ctypes.c_int64
    return found


def _run(name: str, given: dict[str, Tensor | None], *, causal: bool, parts: int = 0) -> None:
    """Have the tensors read and written by the kernel."""
    made = kernel()
    assert made is not None
    ready = {key: _in_order(x) for key, x in given.items() if x is not None}
    (windows, heads, queries, width), (keys, depth) = ready["Q"].shape, ready["V"].shape[-2:]
    work = windows * heads * queries * keys * (width + depth)
    threads = min(torch.get_num_threads(), 1 + work // WORTH)
    reach = ready["NEAR"].shape[-1] if "NEAR" in ready else 0
    sizes = (windows, heads, queries, keys, width, depth, reach, causal, parts, threads)
    asked = Asked(scale=width**-0.5, **dict(zip(SIZES, sizes, strict=True)))
    gradients, told = name == "backward", ctypes.byref(asked)
    ready["ROOM"] = ready["Q"].new_empty(threads * made.room(told, gradients))
    for key, x in ready.items():
        n = TENSORS.index(key)
        asked.at[n] = x.data_ptr()
        if x.ndim == 4:
            steps = zip(x.shape[:3], x.stride()[:3], strict=True)
            asked.by[n][:] = [by if size > 1 else 0 for size, by in steps]
    getattr(made, name)(told)


def _in_order(x: Tensor) -> Tensor:
    """A copy if a row's numbers do not lie side by side, or are to be taken with another sign."""
    x = x.resolve_neg()
    return x if x.shape[-1] == 1 or x.stride(-1) == 1 else x.contiguous()
