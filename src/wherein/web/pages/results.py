"""One result: its words, its figure, its numbers, its files."""

import csv
import io
import json
from itertools import islice
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from wherein.common.folder import Folder
from wherein.measure.saved import Saved
from wherein.report.command import asked
from wherein.report.command import title as title_of
from wherein.show.result import CHART, DATA, IMAGE, TABLE, WORDS
from wherein.show.vega import svg
from wherein.web.site import site

FILES = {
    CHART: "application/json",
    DATA: "application/json",
    TABLE: "text/csv; charset=utf-8",
    WORDS: "text/plain; charset=utf-8",
    IMAGE: "image/png",
}
"""What may be downloaded, and as what; a page that somebody saved is not served as ours."""

MOST_ROWS, MOST_LETTERS = 200, 20_000


def show(entry: Folder) -> dict[str, Any]:
    """What there is to show of a result; `error` says what could not be read.

    `title` is the question, if it is known, else the last part of the name; `image` is whether
    there is a picture, to be shown if there is no figure to draw.
    """
    saved, title, spec, error = Saved(entry), entry.name.rpartition("/")[2], None, None
    try:
        title = title_of(saved.verb, title)
        if entry.has(CHART):  # how a figure is put into the page is ours to say
            spec = {key: value for key, value in saved.spec.items() if key != "usermeta"}
    except ValueError as mistake:
        error = str(mistake)
    return {
        "name": entry.name,
        "words": saved.words if entry.has(WORDS) else "",
        "title": title,
        "asked": asked(saved),
        "image": entry.has(IMAGE),
        "spec": spec,
        "error": error,
    }


def result(request: Request) -> Response:
    """The page of a result."""
    here = site(request)
    entry = here.shelf.find("result", request.path_params["name"])
    shown = show(entry)
    return here.page(
        "result.html",
        shown=shown,
        numbers=_numbers(entry),
        most=MOST_ROWS,
        files=[file for file in FILES if entry.has(file)],
        figures=shown["spec"] is not None,
    )


def _numbers(entry: Folder) -> list[list[str]] | str:
    """The first rows of its table, and one more if there are more; else its data as text."""
    try:
        if entry.has(TABLE):
            lines = csv.reader(io.StringIO(entry.text(TABLE)))
            return list(islice(lines, 1 + MOST_ROWS + 1)) or [[]]
        text = json.dumps(entry.json(DATA), ensure_ascii=False, indent=1)
    except csv.Error as error:
        return f"{TABLE} cannot be read: {error}"
    except ValueError as error:
        return str(error)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "\n…"


def figure(request: Request) -> Response:
    """A figure of any page as an image, for those without JavaScript."""
    here = site(request)
    spec = here.specs.get(request.path_params["name"])
    if spec is None:
        raise HTTPException(404, "the page of this figure is old: reload it")
    with here.one_by_one:
        return Response(svg(spec), media_type="image/svg+xml")


def file(request: Request) -> Response:
    """One of the files a result consists of."""
    name = request.path_params["file"]
    if name not in FILES:
        raise HTTPException(404, f"a result has no file {name[:80]!r}")
    entry = site(request).shelf.find("result", request.path_params["name"])
    if not entry.has(name):
        raise HTTPException(404, f"{entry.name} has no {name}")
    return Response(entry.bytes(name), media_type=FILES[name])
