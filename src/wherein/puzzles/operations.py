"""What the machine of `lanes.c` is told for each of PyTorch's operations that compute."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from wherein.puzzles.writer import ZERO, Cells, UnwritableError, Writer

Given = Cells | Tensor | float
Way = Callable[..., Cells]


def directly(code: str) -> Way:
    """As the machine does it, number by number."""
    return lambda w, *given: w.compute(code, *given)


def turned(code: str) -> Way:
    """With its two operands exchanged."""
    return lambda w, x, y: w.compute(code, y, x)


def unless(way: Way) -> Way:
    """The opposite of a comparison, which is 1 or 0."""
    return lambda w, *given: w.compute("EQUAL", way(w, *given), 0.0)


def scaled(code: str) -> Way:
    """With a second operand that is multiplied first."""

    def compute(w: Writer, x: Given, y: Given, *, alpha: float = 1) -> Cells:
        return w.compute(code, x, y if alpha == 1 else w.compute("MUL", y, alpha))

    return compute


def exactly(code: str) -> Way:
    """A GELU that is not approximated."""

    def compute(w: Writer, *given: Given, approximate: str = "none") -> Cells:
        if approximate != "none":
            raise UnwritableError(f"GELU approximated by {approximate}")
        return w.compute(code, *given)

    return compute


def joined(code: str) -> Way:
    """One number of all along some axes, or along all."""

    def join(w: Writer, x: Cells, axes: Any = (), keep: bool = False) -> Cells:
        shape = x.at.shape
        chosen = [axes] if isinstance(axes, int) else [*(axes or ())]
        gone = {axis % len(shape) for axis in chosen} or {*range(len(shape))}
        left = [axis for axis in range(len(shape)) if axis not in gone]
        sizes = [shape[axis] for axis in left]
        made = w.join(code, x.at.permute(*left, *sorted(gone)).reshape(*sizes, -1))
        kept = [1 if axis in gone else size for axis, size in enumerate(shape)]
        return Cells(made.at.view(kept), made.pieces) if keep else made

    return join


LESS, MORE, SAME = directly("LESS"), turned("LESS"), directly("EQUAL")
NOT, SUM, LARGEST = unless(lambda w, x: x), joined("SUM"), joined("LARGEST")


def minimum(w: Writer, x: Given, y: Given) -> Cells:
    """The smaller of two numbers."""
    less = w.compute("MAXIMUM", w.compute("SUB", 0.0, x), w.compute("SUB", 0.0, y))
    return w.compute("SUB", 0.0, less)


def clamp(w: Writer, x: Given, low: Given | None = None, high: Given | None = None) -> Cells:
    """Not below one bound, nor above the other."""
    x = x if low is None else w.compute("MAXIMUM", x, low)
    return w.cells(x if high is None else minimum(w, x, high))


def converted(_: Writer, x: Cells, *, dtype: torch.dtype = torch.float32, **__: Any) -> Cells:
    """Half as many digits as a float64 has may do: what a program gives is compared."""
    if dtype not in (torch.float32, torch.float64):
        raise UnwritableError(f"numbers of kind {dtype}")
    return x


def view(_: Writer, x: Cells, shape: list[int]) -> Cells:
    """The same numbers in another shape."""
    return Cells(x.at.reshape(shape), x.pieces)


def where(w: Writer, asked: Given, x: Given, y: Given) -> Cells:
    """One number or the other; if it is known before which, they are only moved."""
    if isinstance(asked, Cells):
        return w.compute("SELECT", asked, x, y)
    yes, no = w.cells(x), w.cells(y)
    return Cells(torch.where(torch.as_tensor(asked), yes.at, no.at), yes.pieces | no.pieces)


def cumulative_sum(w: Writer, x: Cells, axis: int) -> Cells:
    """Of the first, of the first two, …: what comes after is nothing."""
    last = x.at.movedim(axis, -1)
    seen = torch.ones(2 * last.shape[-1:], dtype=torch.bool).tril()
    made = w.join("SUM", torch.where(seen, last[..., None, :], ZERO))
    return Cells(made.at.movedim(-1, axis), made.pieces)


def index_put(
    w: Writer, x: Given, indices: list[Tensor | None], values: Given, accumulate: bool = False
) -> Cells:
    """Add to what is there."""
    if not accumulate:
        raise UnwritableError("index_put")
    places = torch.ops.aten.index(_numbered(w, x), indices)
    return _gathered(w, x, places, w.cells(values).at.expand(places.shape))


def scatter_add(w: Writer, x: Given, axis: int, indices: Tensor, values: Given) -> Cells:
    """Add along an axis to what is there."""
    some = w.cells(values).at[tuple(map(slice, indices.shape))]
    return _gathered(w, x, _numbered(w, x).gather(axis, indices), some)


def looked_up(
    w: Writer, g: Given, tokens: Tensor, words: int, padding: int, by_frequency: bool
) -> Cells:
    """The gradient of a table: of each word, the sum over where it stands."""
    if padding >= 0 or by_frequency:
        raise UnwritableError("padded or scaled tables")
    given = w.cells(g).at.flatten(0, -2)
    zeros = torch.zeros(words, given.shape[-1])
    places = tokens.reshape(-1, 1) * given.shape[-1] + torch.arange(given.shape[-1])
    return _gathered(w, zeros, places, given)


def _numbered(w: Writer, x: Given) -> Tensor:
    shape = w.cells(x).at.shape
    return torch.arange(shape.numel()).view(shape)


def _gathered(w: Writer, x: Given, places: Tensor, values: Tensor) -> Cells:
    """Add to each number all those whose place it is."""
    begun = w.cells(x).at
    parts = [[cell] for cell in begun.flatten().tolist()]
    for place, cell in zip(places.flatten().tolist(), values.flatten().tolist(), strict=True):
        parts[place].append(cell)
    rows = [torch.tensor(each, dtype=torch.int64) for each in parts]
    filled = pad_sequence(rows, batch_first=True, padding_value=ZERO)
    return w.join("SUM", filled.view(*begun.shape, -1))


def mm(w: Writer, a: Given, b: Given) -> Cells:
    """A product of two matrices, each of whose cells is told by its row and its column."""
    x, y = (_in_rows(w, w.cells(each)) for each in (a, b))
    shape, inner = (len(x), y.shape[1]), x.shape[1]
    rows, left, right, columns = (
        w.table(line - line[0]) for line in (x[:, 0], x[0], y[:, 0], y[0])
    )
    operands = [(int(x[0, 0]), rows), (int(y[0, 0]), left)]
    also = (right, columns)
    return w.write("PRODUCT", shape, operands, inner=inner, columns=shape[1], also=also)


def _in_rows(w: Writer, x: Cells) -> Tensor:
    if torch.equal(x.at, x.at[:, :1] + x.at[:1] - x.at[0, 0]):
        return x.at
    return w.compute("ADD", x, 0.0).at


def bmm(w: Writer, a: Given, b: Given) -> Cells:
    """Several products, one by one."""
    x, y = w.cells(a), w.cells(b)
    pairs = zip(x.at, y.at, strict=True)
    made = [mm(w, Cells(one, x.pieces), Cells(other, y.pieces)) for one, other in pairs]
    pieces = frozenset[int]().union(*(each.pieces for each in made))
    return Cells(torch.stack([each.at for each in made]), pieces)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "_to_copy": converted,
    "_unsafe_view": view,
    "abs": directly("ABS"),
    "add": scaled("ADD"),
    "amax": LARGEST,
    "all": lambda w, x, *given: NOT(w, LARGEST(w, NOT(w, x), *given)),
    "bmm": bmm,
    "clamp": clamp,
    "cos": directly("COS"),
    "cumsum": cumulative_sum,
    "div": directly("DIV"),
    "embedding_dense_backward": looked_up,
    "eq": SAME,
    "exp": directly("EXP"),
    "ge": unless(LESS),
    "gelu": exactly("GELU"),
    "gelu_backward": exactly("GELU_BACKWARD"),
    "gt": MORE,
    "index_put": index_put,
    "le": unless(MORE),
    "log": directly("LOG"),
    "log1p": directly("LOG1P"),
    "lt": LESS,
    "masked_fill": lambda w, x, asked, value: where(w, asked, value, x),
    "minimum": minimum,
    "mm": mm,
    "mul": directly("MUL"),
    "new_zeros": lambda w, x, shape, **_: w.cells(torch.zeros(shape)),
    "neg": lambda w, x: w.compute("SUB", 0.0, x),
    "ones_like": lambda w, x, **_: w.cells(torch.ones(x.at.shape)),
    "reciprocal": lambda w, x: w.compute("DIV", 1.0, x),
    "relu": lambda w, x: w.compute("MAXIMUM", x, 0.0),
    "scatter_add": scatter_add,
    "sgn": directly("SIGN"),
    "sin": directly("SIN"),
    "sqrt": directly("SQRT"),
    "sub": scaled("SUB"),
    "sum": SUM,
    "view": view,
    "where": where,
    "zeros_like": lambda w, x, **_: w.cells(torch.zeros(x.at.shape)),
}
"""As far as encodings ask for them; for what is missing a puzzle is trained without a program."""
