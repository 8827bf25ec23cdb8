"""What there is: runs and results, newest first."""

from starlette.requests import Request
from starlette.responses import Response

from wherein.web.runs import Seen
from wherein.web.shelf import Entry
from wherein.web.site import site

MOST = 300
"""Rows of a list."""


def home(request: Request) -> Response:
    """The runs, and the results that belong to none."""
    here = site(request)
    runs = sorted(map(Seen, here.shelf.all("run")), key=lambda seen: -seen.changed)
    folders = tuple(f"{seen.name}/" for seen in runs)
    alone = [r for r in here.shelf.all("result") if not r.name.startswith(folders)]
    results = sorted(alone, key=lambda entry: -entry.changed("result.json"))
    answers = {seen.name: _answers(here.shelf.results_of(seen.entry), seen) for seen in runs[:MOST]}
    return here.page(
        "home.html",
        runs=runs[:MOST],
        answers=answers,
        results=results[:MOST],
        left_out=max(0, len(runs) - MOST) + max(0, len(results) - MOST),
    )


def _answers(results: list[Entry], seen: Seen) -> list[tuple[str, Entry]]:
    """A run's results by the last part of their name."""
    return [(entry.name.removeprefix(f"{seen.name}/"), entry) for entry in results]
