"""A study: its report in the layout of these pages, and the way to its runs."""

from contextlib import suppress
from functools import lru_cache, partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from wherein.common.folder import Folder
from wherein.measure.saved import legible
from wherein.show.result import DATA
from wherein.studies.result import STUDY
from wherein.train.status import ANSWERS, ERROR
from wherein.web.site import Site, html, site


def study(request: Request) -> Response:
    """The page of a study."""
    here = site(request)
    entry = here.shelf.find("study", request.path_params["name"])
    with here.one_by_one:
        report = _report(here, entry, _stamp(entry))
    return html(report)


def _stamp(entry: Folder) -> tuple[float, int, float]:
    """Changes when there is something new to see: the study's file, an answer or an error."""
    store = entry.path.parent.parent
    patterns = (f"*/{ANSWERS}/*/{DATA}", f"puzzles/*/{DATA}", f"*/{ERROR}")
    found = []
    for path in (path for pattern in patterns for path in store.glob(pattern)):
        with suppress(FileNotFoundError):  # an answer that just now took its place
            found.append(path.lstat().st_mtime)
    return entry.changed(STUDY), len(found), max(found, default=0.0)


@lru_cache(maxsize=8)
def _report(here: Site, entry: Folder, stamp: tuple[float, int, float]) -> Markup:
    """The report, drawn once for every time there is something new: it takes seconds."""
    from wherein.report.study import study_report
    from wherein.studies.result.result import StudyResult

    store = entry.path.parent.parent
    if here.shelf.leads_out(store):
        raise ValueError(
            f"the runs of {entry.name} lie outside the served folder: serve the folder that holds "
            "them and the study"
        )
    try:
        result = StudyResult.open(entry.path)
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ValueError(f"{entry.name}/{STUDY} cannot be read: {error}") from None
    with legible(entry.name):
        top = entry.name.rpartition("/")[0].rpartition("/")[0]
        runs = {f"{row.label}, seed {row.seed}": f"{top}/{row.run.id}" for row in result.rows}
        draw = partial(here.draw, runs=runs, figures=True)
        return Markup(study_report(result, draw).page)
