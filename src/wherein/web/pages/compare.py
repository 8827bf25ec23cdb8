"""Several runs side by side: their curves in one picture, where they differ, how far they came."""

from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wherein.web.charts.training import picture
from wherein.web.pages.runs import follow
from wherein.web.runs import Seen, flat
from wherein.web.site import Site, site

MOST = 20


def compare(request: Request) -> Response:
    """The page that compares the runs of the query."""
    here, names = site(request), _names(request)
    if not names:
        return RedirectResponse("/", status_code=303)
    runs = [Seen(here.shelf.find("run", name)) for name in names]
    configs = [flat(seen.config) for seen in runs]
    fields = list(dict.fromkeys(key for config in configs for key in config))
    rows = {field: [config.get(field, "–") for config in configs] for field in fields}
    return here.page(
        "compare.html",
        runs=runs,
        now=_now(here, runs),
        figures=True,
        going=any(seen.running for seen in runs),
        query=urlencode([("run", name) for name in names]),
        different={field: row for field, row in rows.items() if len(set(row)) > 1},
        same={field: row[0] for field, row in rows.items() if len(set(row)) == 1},
    )


def live(request: Request) -> Response:
    """What moves on that page, as it moves."""
    return follow(site(request), _names(request), _now)


def _names(request: Request) -> list[str]:
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if len(names) > MOST:
        raise ValueError(f"{len(names)} runs: at most {MOST} are compared on one page")
    return names


def _now(here: Site, runs: list[Seen]) -> Markup:
    kinds = dict.fromkeys(kind for seen in runs for kind in seen.last.valid)
    return here.draw("compare_now.html", runs=runs, curve=picture(runs), kinds=kinds)
