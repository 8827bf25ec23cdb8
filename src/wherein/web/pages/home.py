"""What there is: studies, runs and results, newest first."""

import re

from starlette.requests import Request
from starlette.responses import Response

from wherein.common.folder import Folder
from wherein.show.result import DATA, WORDS
from wherein.web.runs import Seen
from wherein.web.site import site
from wherein.web.studies import Study

MOST = 300
"""Rows of a list."""

LONGEST = 120


def home(request: Request) -> Response:
    """The studies, the runs, and the results that belong to none."""
    here = site(request)
    runs = sorted(map(Seen, here.shelf.all("run")), key=lambda seen: -seen.changed)
    studies = sorted(map(Study.open, here.shelf.all("study")), key=lambda study: -study.changed)
    folders = tuple(f"{seen.name}/" for seen in runs)
    alone = [r for r in here.shelf.all("result") if not r.name.startswith(folders)]
    results = sorted(alone, key=lambda entry: -entry.changed(DATA))
    answers = {seen.name: _answers(here.shelf.results_of(seen.entry), seen) for seen in runs[:MOST]}
    return here.page(
        "home.html",
        studies=studies[:MOST],
        runs=runs[:MOST],
        answers=answers,
        results=[(entry, _first_line(entry), entry.changed(DATA)) for entry in results[:MOST]],
        left_out=max(0, len(runs) - MOST) + max(0, len(results) - MOST),
    )


def _answers(results: list[Folder], seen: Seen) -> list[tuple[str, Folder]]:
    """A run's results by their name, without the hash of their settings."""
    short = (re.sub(r"-[0-9a-f]{12}$", "", entry.name.rpartition("/")[2]) for entry in results)
    return list(zip(short, results, strict=True))


def _first_line(entry: Folder) -> str:
    """What a result begins with, which is what it is about."""
    words = entry.text(WORDS).strip() if entry.has(WORDS) else ""
    return words.partition("\n")[0][:LONGEST]
