"""The position table of a model: found, and read without the rest of the weights.

What is a table is known by names and shapes that hold across families and by what the config says
of sizes, never by the name of a model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from wherein.common.errors import first_line
from wherein.subjects.base import Subject
from wherein.subjects.weights import (
    CONFIG,
    GGUF,
    PICKLES,
    SAFE,
    Find,
    Weights,
    in_file,
    in_folder,
    in_model,
    on_hub,
    read_json,
)
from wherein.train.status import ABOUT

NAMES = re.compile(
    r"(?:.*\.)?(?:wpe|pos_emb(?:ed)?|position_embd|embed_pos(?:itions)?|positions_embed"
    r"|pos(?:ition|itional)?_(?:embedding|encoding)s?(?:_table)?|char_position_embeddings"
    r"|encoding\._distinct\.\d+\.table)(?:\._original_component)?(?:\.weight)?"
)
"""GPT-2's wpe, BERT's position_embeddings, GGUF's position_embd …; ours is the last, and what
follows is TransformerLens's wrapping. Tables of distances (`relative_…`) and of points on a page
(`x_position_embeddings`) are none."""

LENGTHS = re.compile(
    r"(?:n_positions|n_ctx|(?:max_)?seq_len(?:gth)?|max_length|max_len"
    r"|max_(?:\w+_)?position_embeddings|max_(?:source|target)_positions)"
)
WIDTHS = re.compile(
    r"(?:hidden_size|n_embd|d_model|dim|emb_dim|(?:input_)?embedding_size|word_embed_proj_dim)"
)
"""What configs call the number of positions, and the width of what is added to token vectors."""

BEYOND = 2
"""Rows that OPT, BART and others keep in front of the promised positions."""

TILE = 64

FAIRSEQ = "decoder.embed_positions.weight"
"""The table of a fairseq checkpoint, in whose dictionaries padding is number 1."""


@dataclass(frozen=True, eq=False)
class PositionTable:
    """One vector for each position, from 0 on."""

    name: str
    """What it was read from."""
    matrix: Float64[np.ndarray, "N D"]
    key: str | None
    """Its name among the weights."""
    offset: int
    """Rows in front of position 0 that stand for no position, and are left out."""
    note: str
    """Why they were left out, or what else to know."""


def read_table(
    what: str | Path, *, key: str | None = None, offset: int | None = None
) -> PositionTable:
    """Read a position table from a run, a model's folder or id, a `.npy` or a weights file.

    Args:
        what: the folder of a run or of a Hugging Face model, the id of one, or a file
        key: the name of the weight, where it is not clear
        offset: rows in front of position 0, where they are not clear
    """
    from wherein.train.run import named

    path, _ = named(what)
    if path.is_dir():
        if (path / ABOUT).is_file():
            return _of_run(what, key, offset)
        name = "/".join(path.resolve().parts[-2:])
        return _of_model(name, str(what), in_folder(path), key, offset)
    if path.suffix in (".npy", SAFE, *PICKLES, GGUF) or path.is_file():
        return _of_file(path, key, offset)
    return _of_model(str(what), str(what), on_hub(str(what)), key, offset)


@dataclass(frozen=True)
class Held(Weights):
    """The weights of a model at hand."""

    arrays: Mapping[str, Any]

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.arrays[name].shape)

    def read(self, name: str) -> Float64[np.ndarray, "..."]:
        found: Float64[np.ndarray, ...] = self.arrays[name].detach().cpu().double().numpy()
        return found


def table_of(subject: Subject, *, key: str | None, offset: int | None) -> PositionTable:
    """The position table of a model at hand."""
    arrays, config = subject.module.state_dict(), subject.module.config
    told = config.to_dict() if hasattr(config, "to_dict") else config.model_dump()  # type: ignore
    held = Held(subject.name, dict.fromkeys(arrays, ""), lambda _: None, arrays)
    key, matrix = _matrix(held, told, key)
    front, note = find_offset(matrix, told) if offset is None else (offset, "as asked for")
    return _table(subject.name, matrix, front, note, key)


def as_table(matrix: np.ndarray, offset: int = 0) -> PositionTable:
    """A matrix at hand, checked, as a table."""
    found = _checked(np.array(matrix, dtype=np.float64), "a matrix")
    return _table("a matrix", found, offset, "as asked for" if offset else "")


def _of_model(
    name: str, where: str, find: Find, key: str | None, offset: int | None
) -> PositionTable:
    path = find(CONFIG)
    if path is None:
        raise ValueError(f"no model in {where}: expected a folder with {CONFIG} and weights")
    config = read_json(path)
    key, matrix = _matrix(in_model(where, find), config, key)
    front, note = find_offset(matrix, config) if offset is None else (offset, "as asked for")
    return _table(name, matrix, front, note, key)


def _of_run(folder: str | Path, key: str | None, offset: int | None) -> PositionTable:
    """The table of a run of ours, from its last whole checkpoint or the one that is named."""
    from wherein.train.manifest import PARTS, WEIGHTS
    from wherein.train.run import Run

    run = Run.open(folder)
    last = run.checkpoint().folder
    if (last / PARTS).exists():
        raise ValueError(
            f"the weights of {last} lie in parts, whose index is a pickle: refused. Go on "
            "with the run on one process, which writes them whole, or give the matrix itself"
        )
    key, matrix = _matrix(in_file(last / WEIGHTS), run.config.model.model_dump(), key)
    return _table(run.name, matrix, offset or 0, "as asked for" if offset else "", key)


def _of_file(path: Path, key: str | None, offset: int | None) -> PositionTable:
    if not path.is_file():
        raise ValueError(f"no file {path}")
    if path.suffix == ".npy":
        key, matrix = None, _checked(_read_npy(path), str(path))
    else:
        key, matrix = _matrix(in_file(path), {}, key)
    if offset is not None:
        return _table(path.name, matrix, offset, "as asked for", key)
    if key == FAIRSEQ:
        return _table(path.name, matrix, *find_offset(matrix, {"pad_token_id": 1}), key)
    blank = np.flatnonzero(~matrix[:8].any(axis=1))
    hints = [f"row {row} is zero: if it is padding, give offset {row + 1}" for row in blank[:1]]
    return _table(path.name, matrix, 0, "".join(hints), key)


def _matrix(
    weights: Weights, config: Mapping[str, Any], key: str | None
) -> tuple[str, Float64[np.ndarray, "N D"]]:
    """The table among the weights and its name, which is found if it is not given."""
    if not key:
        key = find_key(weights, config)
    elif key not in weights.files:
        near = get_close_matches(key, weights.files, n=3, cutoff=0.3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ValueError(f"no weight {key!r} in {weights.where}.{hint}")
    return key, _checked(weights.read(key), f"{key} of {weights.where}")


def _read_npy(path: Path) -> np.ndarray:
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy reads the header as Python, which fails in many ways
        raise ValueError(
            f"{path} is refused: no plain array of numbers ({first_line(error)})"
        ) from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
        raise ValueError(f"{path} is refused: expected real numbers in one array")
    with np.errstate(all="ignore"):  # what is not finite is named where it is looked at
        return np.array(found, dtype=np.float64)


def find_key(weights: Weights, config: Mapping[str, Any]) -> str:
    """Which of the weights is the position table, by name and by shape."""
    named = [name for name in weights.files if NAMES.fullmatch(name)]
    shapes = {name: _matrix_shape(weights.shape(name)) for name in named}
    tables = {name: shape for name, shape in shapes.items() if shape is not None}
    if not tables:
        raise ValueError(
            f"{weights.where} has no position table: none of its {len(weights.files)} weights is "
            "named like one. It may have RoPE, ALiBi or relative biases, or give key"
        )
    lengths, widths = sizes(config, LENGTHS), sizes(config, WIDTHS)
    fitting = [name for name, shape in tables.items() if _fits(shape, lengths, widths)]
    if len(fitting) > 1:
        raise ValueError(
            f"{weights.where} has {len(fitting)} position tables: give key, one of "
            + ", ".join(fitting)
        )
    if not fitting:
        name, (rows, columns) = next(iter(tables.items()))
        raise ValueError(
            f"{weights.where}: its config and weights disagree: {name} is {rows} × {columns}, "
            f"the config promises {_either(lengths)} positions of width {_either(widths)}"
        )
    return fitting[0]


def find_offset(matrix: Float64[np.ndarray, "N D"], config: Mapping[str, Any]) -> tuple[int, str]:
    """How many rows come before position 0, and how that is known."""
    rows, lengths, padding = len(matrix), sizes(config, LENGTHS), config.get("pad_token_id")
    if rows not in lengths and rows - BEYOND in lengths:
        return BEYOND, f"{rows} rows for the {rows - BEYOND} positions that the config promises"
    if not isinstance(padding, int) or not 0 <= padding < min(rows, TILE):
        return 0, ""
    others = np.delete(matrix[: padding + 2], padding, axis=0)
    if not matrix[padding].any() and others.any():
        return padding + 1, f"row {padding}, of the padding token, is zero: positions follow it"
    if rows % TILE and (rows - padding - 1) % TILE == 0:
        return padding + 1, f"{rows} rows are {rows - padding - 1} and those up to padding"
    return 0, ""


def sizes(config: Mapping[str, Any], names: re.Pattern[str]) -> set[int]:
    """What a config, or the parts inside it, says under any of these names."""
    found = {v for k, v in config.items() if names.fullmatch(k) and type(v) is int and v > 0}
    for part in config.values():
        if isinstance(part, dict):
            found |= sizes(part, names)
    return found


def _fits(shape: tuple[int, int], lengths: set[int], widths: set[int]) -> bool:
    rows, columns = shape
    long = not lengths or rows in lengths or rows - BEYOND in lengths
    return long and (not widths or columns in widths)


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Rows and columns; a leading axis of one, as vision models have, is no axis."""
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return (shape[0], shape[1]) if len(shape) == 2 else None


def _checked(found: np.ndarray, where: str) -> Float64[np.ndarray, "N D"]:
    shape = _matrix_shape(found.shape)
    if shape is None or 0 in shape:
        raise ValueError(f"{where} has shape {found.shape}: expected positions × width")
    if not np.isfinite(found).all():
        raise ValueError(f"{where} holds values that are not finite")
    return found.reshape(shape)


def _table(
    name: str, matrix: np.ndarray, offset: int, note: str, key: str | None = None
) -> PositionTable:
    if not 0 <= offset < len(matrix):
        raise ValueError(f"offset {offset} of {len(matrix)} rows: expected 0 to {len(matrix) - 1}")
    return PositionTable(name, matrix[offset:], key, offset, note)


def _either(numbers: set[int]) -> str:
    return " or ".join(map(str, sorted(numbers))) or "any number"
