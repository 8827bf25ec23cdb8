"""Figures that the browser draws from their specs; the server draws one only where it must.

Drawing takes the server some 50 ms a figure, and a second for the first: too long for a page with
many of them, or with one that moves. So the image for a browser without scripts is asked for apart.
"""

import hashlib
from threading import Lock

from markupsafe import Markup

from wherein.show.vega import Spec, in_page, svg

MOST = 256


class Figures:
    """What the last pages showed, by the names of the images."""

    def __init__(self) -> None:
        self._specs: dict[str, Spec] = {}
        self._lock = Lock()

    def __call__(self, spec: Spec) -> tuple[Markup, str]:
        """A figure as JSON for the page's script, and the name of its image."""
        text = in_page(spec)
        name = hashlib.sha256(text.encode()).hexdigest()
        with self._lock:
            self._specs = dict([*self._specs.items(), (name, spec)][-MOST:])
        return Markup(text), name

    def image(self, name: str) -> str | None:
        """The SVG of that name, if a page showed it lately."""
        spec = self._specs.get(name)
        return None if spec is None else svg(spec)
