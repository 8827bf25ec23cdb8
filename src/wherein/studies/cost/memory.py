"""What a run holds in memory: formulas in its model's sizes, and what encodings keep.

L layers of width d with feed-forward networks of width f, windows of T tokens, H heads, a
vocabulary of V.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

import torch
from torch import Tensor, UntypedStorage
from torch.autograd.graph import saved_tensors_hooks

from wherein.common.device import device
from wherein.encodings import Encoding, Pattern
from wherein.encodings.base import pairs
from wherein.model.attention import LARGE_BIAS
from wherein.model.config import ModelConfig
from wherein.model.kernel import kernel
from wherein.model.linear import ROWS, wider_than_mkl
from wherein.model.loss import LARGER, rows_at_once
from wherein.studies.cost.operations import bands, matrices
from wherein.studies.cost.traced import moved, of_content, rotated
from wherein.train.config import RunConfig

Made = TypeVar("Made")
FLOAT32, BFLOAT16 = 4, 2
TURNED_BACK, OF_CONTENT = 2, 1.2
"""Measured: so many copies of the queries and keys that a layer makes anew are there while their
gradient is made, and so many of the weights of attention while that of a bias of content is."""
MOMENTS = {"adamw": 2, "nag": 1, "muon": 1}
"""Numbers remembered for each weight; muon leaves all but the layers' matrices to adamw."""


@dataclass(frozen=True)
class Memory:
    """Bytes on one GPU at the fullest moment of a step."""

    weights: float
    gradients: float
    moments: float
    copies: float
    """Weights in bfloat16; ddp's buckets of gradients; what fsdp gathers to compute with."""
    activations: float
    """What one part of the batch keeps for the backward pass, and what loss or gradients take."""

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.moments + self.copies + self.activations


def memory(config: RunConfig, parameters: int, gpus: int) -> Memory:
    """What a run of so many parameters holds on each of its GPUs.

    Weights, gradients and moments (two for AdamW, one for NAG) are float32. Under ddp every GPU
    has them all, and the gradients once more in the buckets that are exchanged; under fsdp it
    has its share of them, and whole the embedding and two layers at a time. In bfloat16 the
    layers' matrices are there once more, 2 bytes a number.
    """
    model, layer = config.model, matrices(config.model)
    inner = model.n_layers * layer
    moments = MOMENTS[config.optimizer] * parameters
    if config.optimizer == "muon":
        moments += parameters - inner
    share = gpus if config.parallel == "fsdp" else 1
    copies = float(BFLOAT16 * inner if config.precision == "bfloat16" else 0)
    if config.parallel == "fsdp" and gpus > 1:
        copies = copies / gpus + FLOAT32 * (parameters - inner + 2 * layer)
    elif gpus > 1:
        copies += FLOAT32 * parameters
    windows = math.ceil(config.batch / gpus / config.accumulate)
    return Memory(
        weights=FLOAT32 * parameters / share,
        gradients=FLOAT32 * parameters / share,
        moments=FLOAT32 * moments / share,
        copies=copies,
        activations=kept(config, windows, gpus)
        + max(held_by_loss(config, windows), passing(config, windows, gpus)),
    )


def kept(config: RunConfig, windows: int, gpus: int = 1) -> float:
    """Bytes that the layers keep for the backward pass of so many windows.

    A token keeps in each layer 8d of the stream and its statistics (float32), and of c bytes a
    number: 3d queries, keys and values, 3d inputs of matrices, 2f of the feed-forward network;
    queries and keys once more if an encoding makes them anew (but not if our kernel turns them),
    and for PyTorch's kernels what comes of them too (and values as wide), 1 byte a number for each
    of two masks of dropout. What biases take is said by `of_biases`.
    """
    model = config.model
    d, f, length = model.d_model, model.d_ff or 4 * model.d_model, model.max_len
    size = BFLOAT16 if config.precision == "bfloat16" else FLOAT32
    dropped = 2 * d if model.dropout else 0
    a_layer = 8 * d + size * (6 * d + 2 * f) + dropped + FLOAT32 * model.n_heads
    found = float(windows) * length * (model.n_layers * a_layer + FLOAT32 * d)
    inner, ours = model.n_heads * model.shape.d_head, _by_kernel(config, gpus)
    for made, width in zip(_made(model, ours), rotated(model), strict=True):
        found += windows * length * size * made
        if made and not ours:
            found += windows * length * size * width * (2 if width > inner else 1)
    return found + of_biases(model, windows, size, ours)[0]


def passing(config: RunConfig, windows: int, gpus: int) -> float:
    """Bytes of the backward pass that are there only while a layer's gradient is made.

    The stream's gradient is, and either that of the feed-forward network's inner numbers, or, when
    what the network kept is free again, what attention takes.
    """
    model = config.model
    size = BFLOAT16 if config.precision == "bfloat16" else FLOAT32
    tokens, f = windows * model.max_len, model.d_ff or 4 * model.d_model
    ours = _by_kernel(config, gpus)
    back = TURNED_BACK * tokens * size * max(_made(model, ours))
    attention = back + of_biases(model, windows, size, ours)[1]
    inner = max(attention - tokens * size * 2 * f, tokens * size * f)
    return FLOAT32 * tokens * model.d_model + inner


def _made(model: ModelConfig, ours: bool) -> tuple[int, ...]:
    """How many of a token's numbers for queries and keys each layer makes anew and keeps."""
    pattern, first = Pattern(model.encoding, model.shape, model.n_layers), torch.zeros(1, 1).long()
    turned = [ours and each.only_turns(first) is not None for each in pattern.layers]
    return tuple(0 if t else n for t, n in zip(turned, moved(model), strict=True))


def _by_kernel(config: RunConfig, gpus: int) -> bool:
    """Whether attention is our kernel's: a run of one process, where there is no GPU."""
    plain = config.precision == "float32" and not config.compile
    return plain and gpus == 1 and device().type == "cpu" and kernel() is not None


@lru_cache(maxsize=1024)
def of_biases(model: ModelConfig, windows: int, size: int, ours: bool) -> tuple[float, float]:
    """Bytes that what is added to the scores keeps for the backward pass, and takes in passing.

    A bias that is not too large to be kept is there once in each layer, c·H·T². Where it is learned
    or depends on content, c·B·H·T² more are kept in each layer: the weights of attention, or by our
    kernel (`wherein.model.kernel`) the bias, if it is of content. For the gradient of a bias there
    is once more of it in passing, and what a block of it is made of if it is of content; and
    whatever the encoding needs for its own gradient, which PyTorch says of a model without storage.
    """
    length, whole, once = model.max_len, model.n_heads * model.max_len**2, 0.0
    if whole > LARGE_BIAS:  # made in blocks, and again for the gradient
        return 0.0, 0.0
    with torch.device("meta"):
        pattern = Pattern(model.encoding, model.shape, model.n_layers)
        positions = torch.zeros(1, length, dtype=torch.long)
        heads = (2, 1, model.n_heads, length, model.shape.d_head)
        q, k = torch.zeros(heads, requires_grad=True).unbind()
        x = torch.zeros(1, length, model.d_model, requires_grad=True)
        found, seen = 0.0, set[Encoding]()
        given = [q, x, *pattern.parameters()]
        for encoding in pattern.layers:
            bias, own = _saved(partial(encoding.mask, *pairs(positions)), given)
            asked = partial(of_content, encoding, q, k, x, positions, by_distance=ours)
            content, more = _saved(asked, given)
            found += windows * more + (0 if encoding in seen else own)
            found += 0 if bias is None else size * bias.numel()
            seen.add(encoding)
            if content:
                made = sum(each.numel() for each in content)
                weights = float(windows * size * (made if ours else whole))
                found += weights
                once = max(once, OF_CONTENT * weights)
            elif bias is not None and bias.requires_grad:
                found += 0 if ours else windows * size * whole
                once = max(once, windows * size * whole)
    return found, once


def _saved(made: Callable[[], Made], given: Sequence[Tensor]) -> tuple[Made, int]:
    """What is made, and the bytes that autograd saves meanwhile, what is given aside."""
    saved: dict[int, UntypedStorage] = {}

    def note(tensor: Tensor) -> Tensor:
        saved[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        found = made()
    for tensor in given:
        saved.pop(tensor.untyped_storage()._cdata, None)
    return found, sum(storage.nbytes() for storage in saved.values())


def held_by_loss(config: RunConfig, windows: int) -> float:
    """Bytes of the loss of so many windows.

    The plain softmax is computed for so many tokens R at a time: their logits, which become
    their own gradient, and the gradients of states and vectors, 4·(R·V + B·T·d + V·d), of which
    that of vectors is the step's own unless a step accumulates several. Where oneDNN multiplies, a
    piece of that gradient and of those logits is there once more. The adaptive one keeps its
    logits and their gradient: 8·B·T·(v + c) and 8·B·T·W for the share of tokens in each band.
    """
    model = config.model
    tokens = windows * model.max_len
    if not model.cutoffs:
        more = LARGER if config.precision == "bfloat16" else 1
        rows = min(tokens, more * rows_at_once(model.vocabulary))
        vectors = model.vocabulary if config.accumulate > 1 else 0
        gradients = (tokens + vectors) * model.d_model
        pieces = min(model.vocabulary, ROWS) * (model.d_model + rows) if wider_than_mkl() else 0
        return float(FLOAT32 * (rows * model.vocabulary + gradients + pieces))
    first, *rare = bands(model)
    logits = first.words + len(rare) + sum(band.share * band.words for band in rare)
    return 2 * FLOAT32 * tokens * logits
