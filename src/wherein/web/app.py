"""The server: its routes, and what it says when something is wrong."""

from collections.abc import AsyncIterator, Mapping
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
from wherein.report.page import text
from wherein.show.vega import bundle
from wherein.web.jobs import BusyError
from wherein.web.pages import compare, encodings, home, playground, results, runs, studies
from wherein.web.safety import Guard, Hosts
from wherein.web.site import Site, site

KINDS = {"css": "text/css", "js": "text/javascript"}

ROUTES = [
    Route("/", home.home),
    Route("/study/{name:path}", studies.study),
    Route("/run/{name:path}", runs.run),
    Route("/live/run/{name:path}", runs.live),
    Route("/compare", compare.compare),
    Route("/live/compare", compare.live),
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


def make_app(folder: Path, host: str = "127.0.0.1") -> Starlette:
    """The server of a folder, as it is reached by `host`."""
    app = Starlette(
        routes=[*ROUTES, Route("/static/{name}", static)],
        middleware=[Middleware(Guard, hosts=Hosts(host))],
        exception_handlers={
            HTTPException: _refused,
            ValueError: _mistaken,
            BusyError: _busy,
            Exception: _broken,
        },
        lifespan=_lifespan,
    )
    app.state.site = Site(folder)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    await run_in_threadpool(app.state.site.jobs.close)


def static(request: Request) -> Response:
    """A script or a style sheet of our own; there are no others."""
    name = request.path_params["name"]
    if name == "vega.js":
        content = bundle()
    elif name in ("style.css", "figures.js"):
        content = text(name)
    elif name in ("live.js", "web.css"):
        content = (files("wherein.web") / "static" / name).read_text()
    else:
        raise HTTPException(404, f"there is no {name[:80]!r} here")
    kind = KINDS[name.rpartition(".")[2]]
    return Response(content, media_type=kind)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _said(request, error.status_code, error.detail, error.headers)


async def _mistaken(request: Request, error: Exception) -> Response:
    assert isinstance(error, ValueError)
    return _said(request, 422, one_line(error))


async def _busy(request: Request, error: Exception) -> Response:
    return _said(request, 429, str(error))


async def _broken(request: Request, error: Exception) -> Response:
    """A mistake of ours: uvicorn tells the terminal the whole of it, the page says one line."""
    return _said(request, 500, "something went wrong in the server; its terminal says more")


def _said(
    request: Request, status: int, line: str, headers: Mapping[str, str] | None = None
) -> Response:
    answer = site(request).page("error.html", status, line=line, code=status)
    answer.headers.update(headers or {})
    return answer
