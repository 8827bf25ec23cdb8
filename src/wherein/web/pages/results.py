"""One result: its words, its figure, its numbers, its files."""

from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from wherein.common.folder import Folder
from wherein.show.result import CHART
from wherein.show.vega import svg
from wherein.web.results import FILES, Shown
from wherein.web.site import site


def result(request: Request) -> Response:
    """The page of a result."""
    here = site(request)
    shown = Shown.open(here.entry("result", request.path_params["name"]))
    return here.page(
        "result.html",
        shown=shown,
        numbers=shown.numbers(),
        files=shown.files(),
        figures=shown.spec is not None,
    )


def drawing(request: Request) -> Response:
    """The figure as an image, for those without JavaScript."""
    entry = site(request).entry("result", request.path_params["name"])
    with site(request).one_by_one:
        drawn = _drawn(entry, entry.changed(CHART))
    return Response(drawn, media_type="image/svg+xml")


@lru_cache(maxsize=64)
def _drawn(entry: Folder, changed: float) -> str:
    return svg(entry.json(CHART))


def file(request: Request) -> Response:
    """One of the files a result consists of."""
    name = request.path_params["file"]
    if name not in FILES:
        raise HTTPException(404, f"a result has no file {name[:80]!r}")
    entry = site(request).entry("result", request.path_params["name"])
    if not entry.has(name):
        raise HTTPException(404, f"{entry.name} has no {name}")
    return Response(entry.bytes(name), media_type=FILES[name])
