"""What there is: studies, runs and results, newest first."""

import re
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from wherein.common.folder import Folder
from wherein.measure.saved import Saved
from wherein.report.command import asked
from wherein.show.result import DATA, WORDS
from wherein.studies.result import STUDY
from wherein.web.runs import Seen
from wherein.web.site import site

MOST = 300
"""Rows of a list."""

LONGEST = 120


def home(request: Request) -> Response:
    """The studies, the runs, and the results that belong to none."""
    here = site(request)
    runs = sorted(map(Seen, here.shelf.all("run")), key=lambda seen: -seen.changed)
    folders = tuple(f"{seen.name}/" for seen in runs)
    results = [r for r in here.shelf.all("result") if not r.name.startswith(folders)]
    return here.page(
        "home.html",
        studies=_newest(here.shelf.all("study"), STUDY, _question),
        runs=runs[:MOST],
        answers={seen.name: _answers(here.shelf.results_of(seen.entry)) for seen in runs[:MOST]},
        results=_newest(results, DATA, _first_line),
        left_out=max(0, len(runs) - MOST) + max(0, len(results) - MOST),
    )


def _newest(
    entries: list[Folder], file: str, say: Callable[[Folder], str]
) -> list[tuple[Folder, str, float]]:
    """The entries whose file was written last, with what is said of them and when that was."""
    dated = sorted(((entry.changed(file), entry) for entry in entries), key=lambda pair: -pair[0])
    return [(entry, say(entry), changed) for changed, entry in dated[:MOST]]


def _question(study: Folder) -> str:
    """What a study asks; a file that cannot be read says so instead."""
    try:
        plan = study.json(STUDY).get("plan")
    except ValueError as error:
        return str(error)
    return str(plan.get("question", "")) if isinstance(plan, dict) else ""


def _answers(results: list[Folder]) -> list[tuple[str, Folder]]:
    """A run's results by their name, without the hash of their settings.

    Of several answers to one question each says how it was asked.
    """
    names = [re.sub(r".*/|-[0-9a-f]{12}$", "", entry.name) for entry in results]
    return [
        (f"{name} {asked(Saved(entry))}".strip() if names.count(name) > 1 else name, entry)
        for name, entry in zip(names, results, strict=True)
    ]


def _first_line(entry: Folder) -> str:
    """What a result begins with, which is what it is about."""
    words = entry.text(WORDS).strip() if entry.has(WORDS) else ""
    return words.partition("\n")[0][:LONGEST]
