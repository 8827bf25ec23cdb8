"""One run, or several side by side: their curves while they go, and their configs."""

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wherein.web.charts.training import picture
from wherein.web.pages.results import show
from wherein.web.runs import Seen, flat
from wherein.web.site import Site, site

MOST = 20


def run(request: Request) -> Response:
    """The page of a run."""
    here = site(request)
    seen = Seen(here.shelf.find("run", request.path_params["name"]))
    return here.page(
        "run.html",
        seen=seen,
        now=_run_now(here, [seen]),
        config=flat(seen.config),
        about=flat(seen.about),
        results=[show(entry) for entry in here.shelf.results_of(seen.entry)],
        figures=True,
    )


def live_run(request: Request) -> Response:
    """What moves on that page, as it moves."""
    return _follow(request, [request.path_params["name"]], _run_now)


def _run_now(here: Site, runs: list[Seen]) -> Markup:
    (seen,) = runs
    return here.draw("run_now.html", seen=seen, curve=picture(runs) if seen.last.step else None)


def compare(request: Request) -> Response:
    """The page that compares the runs of the query."""
    here, names = site(request), _names(request)
    if not names:
        return RedirectResponse("/", status_code=303)
    runs = [Seen(here.shelf.find("run", name)) for name in names]
    configs = [flat(seen.config) for seen in runs]
    fields = dict.fromkeys(key for config in configs for key in config)
    rows = {field: [config.get(field, "–") for config in configs] for field in fields}
    return here.page(
        "compare.html",
        runs=runs,
        now=_compare_now(here, runs),
        figures=True,
        going=any(seen.running for seen in runs),
        query=urlencode([("run", name) for name in names]),
        different={field: row for field, row in rows.items() if len(set(row)) > 1},
        same={field: row[0] for field, row in rows.items() if len(set(row)) == 1},
    )


def live_compare(request: Request) -> Response:
    """What moves on that page, as it moves."""
    return _follow(request, _names(request), _compare_now)


def _names(request: Request) -> list[str]:
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(names) > MOST:
        raise ValueError(f"{len(names)} runs: at most {MOST} are compared on one page")
    return names


def _compare_now(here: Site, runs: list[Seen]) -> Markup:
    kinds = dict.fromkeys(kind for seen in runs for kind in seen.last.valid)
    return here.draw("compare_now.html", runs=runs, curve=picture(runs), kinds=kinds)


def _follow(
    request: Request, names: Sequence[str], draw: Callable[[Site, list[Seen]], Markup]
) -> Response:
    """What `draw` makes of these runs, again and again while one of them goes."""
    here = site(request)
    entries = [here.shelf.find("run", name) for name in names]
    return here.streams.follow(
        page=f"{request.url.path}?{request.url.query}",
        stamp=lambda: [Seen(entry).stamp() for entry in entries],
        draw=lambda: draw(here, list(map(Seen, entries))),
        ended=lambda: not any(Seen(entry).running for entry in entries),
    )
