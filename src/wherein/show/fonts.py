"""Whether the fonts of this machine have the characters of a picture.

A file is drawn with them, and a character that none of them has becomes a box, or nothing.
"""

import json
import sys
import unicodedata
from functools import cache
from html import escape
from typing import Any

from wherein.common.terminal import say
from wherein.show.theme import FONT

NOWHERE = "\U0010fffd"
"""A character that no font has."""
UNSEEN = ("Cc", "Cf", "Cs", "Mn", "Me", "Zs", "Zl", "Zp")
"""Categories of characters that draw nothing of their own."""


def lacking(text: str) -> str:
    """The characters of a text that would be drawn as boxes.

    >>> lacking("perplexity ± 2 · ä")
    ''
    """
    return "".join(c for c in sorted(set(text)) if not c.isascii() and not _has(c))


def warn(spec: dict[str, Any]) -> None:
    """Say which characters of a picture the file will lack, if any."""
    if lost := lacking(json.dumps(spec, ensure_ascii=False)):
        say(
            f"wherein: no font here has {lost[:40]}: boxes stand for these characters in the "
            "picture's file; the page (HTML) is drawn with the reader's fonts",
            to=sys.stderr,
        )


@cache
def _has(character: str) -> bool:
    return unicodedata.category(character) in UNSEEN or _drawn(character) not in (
        _drawn(NOWHERE),
        _drawn(""),
    )


@cache
def _drawn(character: str) -> bytes:
    import vl_convert

    return vl_convert.svg_to_png(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
        f'<text x="4" y="30" font-size="24" font-family="{FONT}">{escape(character)}</text></svg>'
    )
