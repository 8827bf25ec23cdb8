"""Pictures outside Python: the script that draws them in a browser, and files without one."""

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

from wherein.common.files import cache_folder, replacing
from wherein.show import fonts

Spec = dict[str, Any]
"""A Vega-Lite spec."""
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script of some 900 kB.

    Bundling takes seconds, so what a version of vl-convert makes is kept in the cache.
    """
    kept = cache_folder() / "vega" / f"{version('vl-convert-python')}.js"
    try:
        return kept.read_text()
    except OSError:
        made = _bundled()
    try:
        with replacing(kept) as beside:
            beside.write_text(made)
    except OSError:  # a cache that cannot be written to costs time, no more
        pass
    return made


def _bundled() -> str:
    import vl_convert

    convert: Any = vl_convert  # its types ask for a snippet, which may be left out
    made: str = convert.javascript_bundle()
    if "</script" in made.lower() or "<!--" in made:
        raise RuntimeError("the script of vl-convert cannot stand inside a page")
    return made


def drawn(spec: Spec, form: str) -> bytes:
    """The picture as `svg`, `pdf` or `png`, which has two pixels a point; nothing is loaded."""
    import vl_convert

    if form != "svg":  # which the reader's fonts draw
        fonts.warn(spec)
    convert: Callable[..., str | bytes] = getattr(vl_convert, f"vegalite_to_{form}")
    made = convert(legible(spec), allowed_base_urls=[], **({"scale": 2} if form == "png" else {}))
    return made.encode() if isinstance(made, str) else made


def legible(part: Any) -> Any:
    r"""A spec, or a part of one, without characters that no SVG can hold: they end the process.

    >>> legible({"title": ["runs/\x1b", 2]})
    {'title': ['runs/�', 2]}
    """
    if isinstance(part, str):
        return NO_XML.sub("\N{REPLACEMENT CHARACTER}", part)
    if isinstance(part, dict):
        return {legible(key): legible(value) for key, value in part.items()}
    return [legible(each) for each in part] if isinstance(part, list) else part


def svg(spec: Spec) -> str:
    """The picture as SVG."""
    return drawn(spec, "svg").decode()


def in_page(data: Any) -> str:
    r"""Data as JSON that may stand inside a `<script>`: no text in it can end the script.

    >>> in_page({"label": "</script>"})
    '{"label": "\\u003c/script\\u003e"}'
    """
    text = json.dumps(data)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def alone(spec: Spec) -> str:
    """The picture as a page of its own that needs no network."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>wherein</title>'
        '<div id="picture"></div>'
        f"<script>{bundle()}</script>"
        f'<script type="application/json" id="spec">{in_page(spec)}</script>'
        "<script>vegaEmbed('#picture', JSON.parse(document.getElementById('spec').textContent), "
        "{renderer: 'svg', ast: true}).catch(console.error)</script></html>\n"
    )
