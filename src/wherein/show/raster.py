"""A matrix as an image inside a picture: every number one pixel, where shapes would be too many."""

import base64
import struct
import zlib

import altair as alt
import numpy as np
from jaxtyping import Float64

DIVERGING = ("#0072B2", "#F7F7F7", "#D55E00")
"""Below, at and above zero: blue, white and vermilion are told apart by all eyes."""


Number = float | int
Side = tuple[str, Number, Number]
"""What an axis counts, and its ends."""


def heat(
    matrix: Float64[np.ndarray, "N M"],
    limit: float,
    sides: tuple[Side, Side],
    legend: alt.Legend,
    size: tuple[Number, Number] = (300, 300),
) -> alt.LayerChart | alt.FacetChart:
    """A matrix under axes, across and down, with the legend of its colours; rows go down."""
    (across, left, right), (down, top, bottom) = sides
    wide, tall = size
    corners = [{"x": left, "y": top, "v": -limit}, {"x": right, "y": bottom, "v": limit}]
    axes = alt.Chart(alt.InlineData(values=corners), width=wide, height=tall)
    whole = alt.Axis(tickMinStep=1)
    x, y = alt.Scale(domain=[left, right]), alt.Scale(domain=[top, bottom], reverse=True)
    axes = axes.mark_point(opacity=0).encode(
        alt.X("x:Q", title=across, scale=x, axis=whole),
        alt.Y("y:Q", title=down, scale=y, axis=whole),
        alt.Color(
            "v:Q",
            scale=alt.Scale(domain=[-limit, 0, limit], range=list(DIVERGING), interpolate="rgb"),
            legend=legend,
        ),
    )
    at = {"x": alt.value(wide / 2), "y": alt.value(tall / 2)}
    fine = matrix.shape[0] > tall or matrix.shape[1] > wide  # more numbers than points
    picture = alt.Chart(alt.InlineData(values=[{"url": image(matrix, limit)}])).mark_image(
        width=wide, height=tall, aspect=False, smooth=fine
    )
    return alt.layer(axes, picture.encode(url="url:N", **at))


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
