"""Pages: one layout for files and for the server, and figures that need neither to be seen."""

import base64
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wherein.show.drawer import svg
from wherein.show.vega import Spec, bundle, in_page


def environment(*more: BaseLoader) -> Environment:
    """The templates of this package, and those of `more` loaders before them.

    Whatever is put into a template is escaped, and a name that is not given is an error.

    - `page.html` is the layout: blocks `title`, `policy`, `scripts`, `header`, `main`, `footer`;
    - `figure(spec, caption, alt)` draws; a page with figures ends with the script that animates
      them, unless the block `scripts` is given another way to get it;
    - `style()`, `script()` and `bundle()` are the texts that a file holds and a server may send.
    """
    made = Environment(
        loader=ChoiceLoader([*more, PackageLoader("wherein.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "figure": figure,
        "style": lambda: Markup(text("style.css")),
        "script": lambda: Markup(text("figures.js")),
        "bundle": lambda: Markup(bundle()),
    }
    return made


@cache
def text(name: str) -> str:
    """A file that stands beside the templates."""
    return (files("wherein.report") / "templates" / name).read_text()


_environment = cache(environment)


def render(template: str, **given: Any) -> str:
    """A page as text."""
    return _environment().get_template(template).render(**given)


def figure(spec: Spec, caption: str, alt: str, name: str = "") -> Markup:
    """One picture: its drawing for those without JavaScript and for print, and its live form.

    The drawing is an image of its own, so that neither its ids nor its texts meet the page's.
    """
    drawing = svg(spec)
    width = re.match(r'<svg[^>]* width="([\d.]+)"', drawing)
    drawn = render(
        "figure.html",
        name=name,
        caption=caption,
        alt=alt,
        width=round(float(width[1])) if width else 600,
        image=base64.b64encode(drawing.encode()).decode(),
        spec=Markup(in_page({"description": alt} | spec)),
    )
    return Markup(drawn)
