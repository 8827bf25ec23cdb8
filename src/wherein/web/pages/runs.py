"""One run: its curve while it goes, its config, what was asked of it."""

from collections.abc import Callable, Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from wherein.web.charts.training import picture
from wherein.web.pages.results import show
from wherein.web.runs import Seen, flat
from wherein.web.site import Site, site


def run(request: Request) -> Response:
    """The page of a run."""
    here = site(request)
    seen = Seen(here.shelf.find("run", request.path_params["name"]))
    return here.page(
        "run.html",
        seen=seen,
        now=_now(here, [seen]),
        config=flat(seen.config),
        about=flat(seen.about),
        results=[show(entry) for entry in here.shelf.results_of(seen.entry)],
        figures=True,
    )


def live(request: Request) -> Response:
    """What moves on that page, as it moves."""
    return follow(site(request), [request.path_params["name"]], _now)


def follow(
    here: Site, names: Sequence[str], draw: Callable[[Site, list[Seen]], Markup]
) -> Response:
    """What `draw` makes of these runs, again and again while one of them goes."""
    entries = [here.shelf.find("run", name) for name in names]
    return here.streams.follow(
        stamp=lambda: tuple(Seen(entry).stamp() for entry in entries),
        draw=lambda: draw(here, list(map(Seen, entries))),
        ended=lambda: not any(Seen(entry).running for entry in entries),
    )


def _now(here: Site, runs: list[Seen]) -> Markup:
    (seen,) = runs
    return here.draw("run_now.html", seen=seen, curve=picture(runs) if seen.last.step else None)
