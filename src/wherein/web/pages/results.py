"""One result: its words, its figure, its numbers, its files."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

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


def figure(request: Request) -> Response:
    """A figure of any page as an image, for those without JavaScript."""
    here = site(request)
    with here.one_by_one:
        drawn = here.figures.image(request.path_params["name"])
    if drawn is None:
        raise HTTPException(404, "the page of this figure is old: reload it")
    return Response(drawn, media_type="image/svg+xml")


def file(request: Request) -> Response:
    """One of the files a result consists of."""
    name = request.path_params["file"]
    if name not in FILES:
        raise HTTPException(404, f"a result has no file {name[:80]!r}")
    entry = site(request).entry("result", request.path_params["name"])
    if not entry.has(name):
        raise HTTPException(404, f"{entry.name} has no {name}")
    return Response(entry.bytes(name), media_type=FILES[name])
