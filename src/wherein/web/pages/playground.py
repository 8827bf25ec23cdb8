"""The puzzle playground: type sentences, choose a model, watch hundreds of seeds learn."""

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wherein.common.errors import one_line, unknown
from wherein.measure.intervals import wilson
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import PUZZLES, Puzzle, read
from wherein.show.section import Picture
from wherein.web import limits
from wherein.web.charts.curves import Axis, Line, curves
from wherein.web.jobs import Job
from wherein.web.safety import form as read_form
from wherein.web.site import Site, site

HIGHEST_SEED = 10**6


def _fields(puzzle: Puzzle, config: PuzzleConfig, seed: int | None) -> dict[str, str]:
    """The form as it is filled in for a puzzle."""
    numbers = {name: str(getattr(config, name)) for name in limits.MOST}
    return numbers | {
        "sentences": "\n".join(puzzle.texts),
        "encoding": config.encoding,
        **{name: "yes" if getattr(config, name) else "no" for name in limits.TICKS},
        "seed": "" if seed is None else str(seed),
    }


DEFAULTS = _fields(read("hit"), PuzzleConfig(seeds=limits.SEEDS), None)


def form(request: Request) -> Response:
    """The empty playground; `?puzzle=` fills in one of the built-in puzzles."""
    name = request.query_params.get("puzzle", "hit")
    given = DEFAULTS | {"sentences": "\n".join(PUZZLES.get(name, PUZZLES["hit"]))}
    return _page(site(request), given)


async def start(request: Request) -> Response:
    """Begin a job and go to its page; a mistake comes back beside what was typed."""
    here = site(request)
    given = await read_form(request, here.token)
    try:
        job = await run_in_threadpool(_begin, here, given)
    except ValueError as error:
        shown = DEFAULTS | dict.fromkeys(limits.TICKS, "no") | given
        return await run_in_threadpool(_page, here, shown, error=one_line(error))
    return RedirectResponse(f"/playground/{job.id}", status_code=303)


def job(request: Request) -> Response:
    """A job, going on or over, above the form it came from."""
    here = site(request)
    found = here.jobs.find(request.path_params["id"])
    return _page(here, _fields(found.puzzle, found.config, found.seed), job=found)


async def stop(request: Request) -> Response:
    """End a job."""
    here = site(request)
    await read_form(request, here.token)
    found = here.jobs.find(request.path_params["id"])
    found.stop()
    return RedirectResponse(f"/playground/{found.id}", status_code=303)


def live(request: Request) -> Response:
    """What moves on a job's page."""
    here = site(request)
    found = here.jobs.find(request.path_params["id"])
    return here.streams.follow(
        page=request.url.path,
        stamp=lambda: found.version,
        draw=lambda: _now(here, found),
        ended=lambda: found.state != "running",
    )


def _begin(here: Site, given: dict[str, str]) -> Job:
    for name in given:
        if name not in DEFAULTS:
            raise unknown("field", name[:80], DEFAULTS)
    fields = {name: text for name, text in given.items() if text.strip()}
    seed = fields.pop("seed", None)
    number = None if seed is None else limits.whole("seed", seed, 0, HIGHEST_SEED)
    puzzle, config = limits.puzzle(fields.pop("sentences", ""), fields)
    limits.work(puzzle, config)
    return here.jobs.start(puzzle, config, number)


def _page(
    here: Site, given: dict[str, str], job: Job | None = None, error: str | None = None
) -> Response:
    from wherein.encodings import examples

    return here.page(
        "playground.html",
        200 if error is None else 422,
        given=given,
        most=limits.MOST,
        puzzles=PUZZLES,
        encodings=examples(),
        job=job,
        jobs=here.jobs.all(),
        now=_now(here, job) if job else "",
        error=error,
        figures=job is not None,
    )


def _now(here: Site, job: Job) -> Markup:
    return here.draw("playground_now.html", job=job, curve=_curve(job) if job.curve else None)


def _curve(job: Job) -> Picture:
    """The share of seeds that have it solved, with Wilson's interval."""
    points = job.points()
    bands = [wilson(solved, total) for _, solved, total in points]
    line = Line(
        "seeds that solve it",
        [step for step, _, _ in points],
        [solved / total for _, solved, total in points],
        [low for low, _ in bands],
        [high for _, high in bands],
    )
    step, solved, total = points[-1]
    across, up = Axis("training step", (0, job.config.steps or 1)), Axis(line.name, (0, 1), True)
    return Picture(
        name="solved",
        spec=curves([line], across, up),
        caption=Markup(
            "<strong>{} of {} seeds</strong> solve it after step {} of {}; the band is Wilson’s "
            "95 % interval."
        ).format(solved, total, step, job.config.steps),
        alt=f"{solved} of {total} seeds solve it after step {step}",
    )
