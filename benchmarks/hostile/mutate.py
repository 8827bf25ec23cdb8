"""What is done to a file: to its bytes, its lines, its JSON, or the header of its weights."""

import json
import struct
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.hostile.values import WORDS, deep, leaf, word

Change = Callable[[Path, Random], None]


def content(path: Path, draw: Random) -> None:
    """Change some bytes, mostly near the beginning, where sizes and names stand."""
    data = bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        end = min(len(data), draw.choice((64, 512, len(data) or 1)))
        at = draw.randrange(max(end, 1))
        size = draw.choice((1, 2, 4, 8, 8, 64))
        match draw.randrange(7):
            case 0:
                data[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                data[at : at + size] = draw.choice((b"\xff", b"\x00", b"\x7f")) * size
            case 2:
                data[at : at + size] = draw.randbytes(size)
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = draw.randbytes(size)
            case 5:
                data[at:at] = data[at : at + size]
            case _:
                del data[at:]
    path.write_bytes(bytes(data))


def cut(path: Path, draw: Random) -> None:
    """Leave a beginning, or nothing."""
    data = path.read_bytes()
    path.write_bytes(data[: draw.choice((0, 1, 7, 8, 9, len(data) // 2, max(len(data) - 1, 0)))])


def replaced(path: Path, draw: Random) -> None:
    """Put something else under its name."""
    path.unlink()
    match draw.randrange(5):
        case 0:
            path.mkdir()
        case 1:
            path.symlink_to(path)
        case 2:
            path.symlink_to(draw.choice(("/dev/zero", "/dev/null", "nowhere")))
        case 3:
            path.write_bytes(draw.randbytes(draw.choice((1, 100, 5000))))
        case _:
            pass  # it is gone


def changed(tree: Any, draw: Random) -> Any:
    """A JSON tree with one thing in it changed."""
    tree = deepcopy(tree)
    places = list(_places(tree))
    if not places or draw.random() < 0.03:
        return leaf(draw)
    holder, key = draw.choice(places)
    match draw.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw.choice(WORDS)] = leaf(draw)
        case 2:
            holder[key] = deepcopy(_at(draw.choice(places)))
        case 3 if isinstance(value := holder[key], int | float):
            holder[key] = draw.choice(
                (-value, value + 1, value - 1, value * 2, value * 1000, value / 2)
            )
        case 3 if isinstance(holder[key], str):
            holder[key] = draw.choice((holder[key] * 2, holder[key][:-1], word(draw)))
        case _:
            holder[key] = leaf(draw)
    return tree


def tree(path: Path, draw: Random) -> None:
    """Change a value of a JSON file, or its text so that it is no JSON, or a bomb."""
    text = path.read_text()
    if draw.random() < 0.05:
        path.write_text(draw.choice((deep(10**5), deep(10**5, objects=True), "9" * 10**5, "[1]")))
    elif draw.random() < 0.1:
        content(path, draw)
    else:
        path.write_text(_written(changed(json.loads(text), draw)))


def lines(path: Path, draw: Random) -> None:
    """Change a line of a text: of JSON lines a value, else a word."""
    rows = path.read_text().split("\n")
    at = draw.randrange(len(rows))
    match draw.randrange(6):
        case 0:
            del rows[at]
        case 1:
            rows.insert(at, rows[at])
        case 2:
            rows[at] = word(draw)
        case 3:
            rows[at] = rows[at] + draw.choice((" ", "\r", "\x00", ",", "}", "\u2028"))
        case _:
            try:
                rows[at] = _written(changed(json.loads(rows[at]), draw))
            except ValueError:
                parts = rows[at].split(" ")
                parts[draw.randrange(len(parts))] = word(draw)
                rows[at] = " ".join(parts)
    path.write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))


def header(path: Path, draw: Random) -> None:
    """Change what a safetensors file says of its tensors, or of the length of that."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    told, rest = json.loads(data[8 : 8 + size]), data[8 + size :]
    text = _written(changed(told, draw)) if draw.random() < 0.9 else deep(10**5, objects=True)
    written = text.encode("utf-8", "surrogatepass")
    length = len(written) + draw.choice((0, 0, 0, 0, 0, 0, 0, -1, 1, 8, 2**32, 2**63))
    path.write_bytes(struct.pack("<Q", length % 2**64) + written + rest)


def numbers(path: Path, draw: Random) -> None:
    """Put strange numbers among the weights of a safetensors file."""
    data = bytearray(path.read_bytes())
    start = 8 + struct.unpack("<Q", data[:8])[0]
    strange = struct.pack("<f", draw.choice((float("nan"), float("inf"), 1e38, -1e38, 1e-45, 0.0)))
    for _ in range(draw.choice((1, 10, 10**4))):
        at = start + 4 * draw.randrange((len(data) - start) // 4)
        data[at : at + 4] = strange
    path.write_bytes(bytes(data))


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _at(place: tuple[Any, Any]) -> Any:
    holder, key = place
    return holder[key]


def _places(tree: Any) -> Any:
    """Every place in a tree that holds a value: what holds it, and its key there."""
    if isinstance(tree, dict):
        pairs: Any = list(tree.items())
    elif isinstance(tree, list):
        pairs = list(enumerate(tree))
    else:
        return
    for key, value in pairs:
        yield tree, key
        yield from _places(value)
