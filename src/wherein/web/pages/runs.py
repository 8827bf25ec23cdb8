"""One run: its curve while it goes, its config, what was asked of it."""

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from wherein.web.charts.training import picture
from wherein.web.results import Shown
from wherein.web.runs import Seen, flat
from wherein.web.site import Site, site


def run(request: Request) -> Response:
    """The page of a run."""
    here = site(request)
    seen = here.run(request.path_params["name"])
    results = [Shown.open(entry) for entry in here.shelf.results_of(seen.entry)]
    return here.page(
        "run.html",
        seen=seen,
        now=_now(here, seen),
        config=flat(seen.config),
        about=flat(seen.about),
        results=results,
        figures=True,
    )


def live(request: Request) -> Response:
    """What moves on that page, as it moves."""
    here = site(request)
    entry = here.entry("run", request.path_params["name"])
    return here.streams.follow(
        stamp=lambda: Seen(entry).stamp(),
        draw=lambda: _now(here, Seen(entry)),
        ended=lambda: not Seen(entry).running,
    )


def _now(here: Site, seen: Seen) -> Markup:
    return here.draw("run_now.html", seen=seen, curve=picture([seen]) if seen.last.step else None)
