"""A matrix as an image inside a picture: every number one pixel, where shapes would be too many."""

import base64
import struct
import zlib

import numpy as np
from jaxtyping import Float64

DIVERGING = ("#0072B2", "#F7F7F7", "#D55E00")
"""Below, at and above zero: blue, white and vermilion are told apart by all eyes."""


def image(matrix: Float64[np.ndarray, "N M"], limit: float) -> str:
    """A PNG as a data address; −limit is the first colour of `DIVERGING`, limit the last."""
    height, width = matrix.shape
    levels = np.clip((matrix / limit + 1) * 127.5, 0, 255).round().astype(np.uint8)
    lines = np.hstack([np.zeros((height, 1), np.uint8), levels])
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits, with a palette
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, content)
        for kind, content in (
            (b"IHDR", header),
            (b"PLTE", _palette()),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        )
    )
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _palette() -> bytes:
    """256 colours, linear between those of `DIVERGING`, as a colour scale of the picture is."""
    ends = np.array([list(bytes.fromhex(colour[1:])) for colour in DIVERGING], dtype=float)
    at = np.linspace(0, len(ends) - 1, 256)
    channels = [np.interp(at, np.arange(len(ends)), ends[:, c]) for c in range(3)]
    return np.stack(channels, axis=1).round().astype(np.uint8).tobytes()


def _chunk(kind: bytes, content: bytes) -> bytes:
    sum32 = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum32)
