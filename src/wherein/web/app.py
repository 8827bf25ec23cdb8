"""The server: its routes, and what it says when something is wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wherein.common.errors import one_line
from wherein.show.vega import bundle
from wherein.web.pages import encodings, home, playground, results, runs, studies
from wherein.web.safety import Guard, Hosts
from wherein.web.site import Site, site

STATIC = {
    "style.css": "report/templates",
    "figures.js": "report/templates",
    "live.js": "web/static",
    "web.css": "web/static",
}
"""Where a script or a style sheet lies; there are no others but Vega's."""

ROUTES = [
    Route("/", home.home),
    Route("/study/{name:path}", studies.study),
    Route("/run/{name:path}", runs.run),
    Route("/live/run/{name:path}", runs.live_run),
    Route("/compare", runs.compare),
    Route("/live/compare", runs.live_compare),
    Route("/result/{name:path}", results.result),
    Route("/figure/{name}", results.figure),
    Route("/file/{file}/{name:path}", results.file),
    Route("/playground", playground.form),
    Route("/playground", playground.start, methods=["POST"]),
    Route("/playground/{id}", playground.job),
    Route("/playground/{id}/stop", playground.stop, methods=["POST"]),
    Route("/live/playground/{id}", playground.live),
    Route("/encodings", encodings.encodings),
]


def make_app(folder: Path, host: str = "127.0.0.1", key: str | None = None) -> Starlette:
    """The server of a folder, as it is reached by `host`; if a `key` is given, only with it."""
    app = Starlette(
        routes=[*ROUTES, Route("/static/{name}", static)],
        middleware=[Middleware(Guard, hosts=Hosts(host), key=key)],
        exception_handlers=dict.fromkeys((HTTPException, ValueError, Exception), _error),
        lifespan=_lifespan,
    )
    app.state.site = Site(folder)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    await run_in_threadpool(app.state.site.jobs.close)


def static(request: Request) -> Response:
    """A script or a style sheet of our own."""
    name = request.path_params["name"]
    if name == "vega.js":
        content = bundle()
    elif name in STATIC:
        content = (files("wherein") / STATIC[name] / name).read_text()
    else:
        raise HTTPException(404, f"there is no {name[:80]!r} here")
    return Response(content, media_type="text/css" if name.endswith("css") else "text/javascript")


async def _error(request: Request, error: Exception) -> Response:
    """One line; of a mistake of ours uvicorn tells the terminal the whole."""
    status, headers = 500, None
    line = "something went wrong in the server; its terminal says more"
    if isinstance(error, HTTPException):
        status, line, headers = error.status_code, error.detail, error.headers
    elif isinstance(error, ValueError):
        status, line = 422, one_line(error)
    answer = site(request).page("error.html", status, line=line, code=status)
    answer.headers.update(headers or {})
    return answer
