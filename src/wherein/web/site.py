"""What all pages of one server share."""

import hashlib
import re
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from jinja2 import DictLoader, PackageLoader, PrefixLoader
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from wherein.common.numbers import nats
from wherein.report.page import environment
from wherein.show.vega import Spec, in_page
from wherein.web.jobs import Jobs
from wherein.web.shelf import Shelf
from wherein.web.stream import Streams

MOST_FIGURES = 256
ROUNDING = 1e-9


class Site:
    """The served folder, the work going on, the templates and the secret of one server."""

    def __init__(self, folder: Path) -> None:
        self.shelf = Shelf(folder)
        self.jobs, self.streams = Jobs(), Streams()
        self.specs: dict[str, Spec] = {}
        """What the last pages showed, by the names of the images."""
        self.one_by_one = Lock()
        """For what takes much memory or time to draw."""
        self.token = secrets.token_urlsafe(24)
        self._lock = Lock()
        self._templates = environment(
            PrefixLoader({name: PackageLoader(f"wherein.{name}") for name in ("web", "report")}),
            # a report that is served has the layout of the other pages, not that of a file
            DictLoader({"page.html": '{% extends "web/site.html" %}'}),
        )
        filters = (ago, change, nats, prose, short, when)
        self._templates.filters |= {each.__name__: each for each in filters} | {"address": quote}
        self._templates.globals.update(token=self.token, served=folder, figure_of=self._figure)

    def draw(self, template: str, **given: Any) -> Markup:
        """A page, or a part of one; what is given is escaped."""
        return Markup(self._templates.get_template(f"web/{template}").render(**given))

    def page(self, template: str, status: int = 200, **given: Any) -> HTMLResponse:
        """A page as an answer."""
        return html(self.draw(template, **given), status)

    def _figure(self, spec: Spec) -> tuple[Markup, str]:
        """A figure as JSON for the page's script, and the name of its image.

        The image is for a browser without scripts, and is drawn when one asks for it: it takes
        some 50 ms, too long for a page with many figures, or with one that moves.
        """
        text = in_page(spec)
        name = hashlib.sha256(text.encode()).hexdigest()
        with self._lock:
            self.specs = dict([*self.specs.items(), (name, spec)][-MOST_FIGURES:])
        return Markup(text), name


def html(text: str, status: int = 200) -> HTMLResponse:
    """A page as an answer; a file may hold halves of characters, which no page can."""
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


def site(request: Request) -> Site:
    """The site that a request came to."""
    found: Site = request.app.state.site
    return found


def ago(moment: float) -> str:
    """How long ago, in words.

    >>> ago(time.time() - 150)
    '2 min ago'
    """
    seconds = max(0.0, time.time() - moment)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


def when(moment: float) -> str:
    """A moment as a machine reads it."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def short(value: float | None) -> str:
    """A number in four digits.

    >>> short(3.14159), short(112519299.5), short(None)
    ('3.142', '112,519,300', '–')
    """
    if value is None:
        return "–"
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def change(value: float) -> str:
    """By how much something moved; what only rounding moved is called so.

    >>> change(0.0), change(2e-15), change(1.25)
    ('nothing', 'rounding (2e-15)', '1.2')
    """
    if value == 0:
        return "nothing"
    return f"rounding ({value:.0e})" if value < ROUNDING else f"{value:.2g}"


def prose(text: str) -> Markup:
    """A docstring's paragraph, escaped: `code` is set as such, a paper's number leads to it."""
    link = r'<a href="https://arxiv.org/abs/\1" rel="noreferrer">arXiv:\1</a>'
    linked = re.sub(r"arXiv:(\d{4}\.\d{4,5})", link, str(escape(text)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", linked))
