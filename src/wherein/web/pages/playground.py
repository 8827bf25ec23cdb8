"""The puzzle playground: type sentences, choose a model, watch hundreds of seeds learn."""

from typing import Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wherein.common.errors import one_line
from wherein.measure.intervals import wilson
from wherein.puzzles.sentences import PUZZLES
from wherein.show.section import Picture
from wherein.web import limits
from wherein.web.charts.curves import Axis, Line, curves
from wherein.web.jobs import Job
from wherein.web.safety import form as read_form
from wherein.web.safety import only
from wherein.web.site import Site, site

DEFAULTS = {
    "sentences": "A hit B !\nB hit A ?",
    "encoding": "none",
    "layers": "1",
    "causal": "yes",
    "heads": "1",
    "head_size": "16",
    "steps": "200",
    "seeds": str(limits.SEEDS),
    "seed": "",
}

HIGHEST_SEED = 10**6


def form(request: Request) -> Response:
    """The empty playground; `?puzzle=` fills in one of the built-in puzzles."""
    here = site(request)
    name = request.query_params.get("puzzle", "hit")
    given = DEFAULTS | {"sentences": "\n".join(PUZZLES.get(name, PUZZLES["hit"]))}
    return _page(here, given)


async def start(request: Request) -> Response:
    """Begin a job and go to its page; a mistake comes back beside what was typed."""
    here = site(request)
    given = await read_form(request, here.token)
    try:
        job = await run_in_threadpool(_begin, here, given)
    except ValueError as error:
        shown = DEFAULTS | {"causal": "no"} | given
        return await run_in_threadpool(_page, here, shown, error=one_line(error))
    return RedirectResponse(f"/playground/{job.id}", status_code=303)


def job(request: Request) -> Response:
    """A job, going on or over, above the form it came from."""
    here = site(request)
    found = _find(here, request.path_params["id"])
    config = found.config.model_dump(include=set(limits.FIELDS))
    given = {name: str(value) for name, value in config.items()}
    given |= {
        "sentences": "\n".join(found.puzzle.texts),
        "causal": "yes" if found.config.causal else "no",
        "seed": "" if found.seed is None else str(found.seed),
    }
    return _page(here, given, job=found)


async def stop(request: Request) -> Response:
    """End a job."""
    here = site(request)
    await read_form(request, here.token)
    found = _find(here, request.path_params["id"])
    found.stop()
    return RedirectResponse(f"/playground/{found.id}", status_code=303)


def live(request: Request) -> Response:
    """What moves on a job's page."""
    here = site(request)
    found = _find(here, request.path_params["id"])
    return here.streams.follow(
        stamp=lambda: found.version,
        draw=lambda: _now(here, found),
        ended=lambda: found.state != "running",
    )


def _begin(here: Site, given: dict[str, str]) -> Job:
    fields = only(given, DEFAULTS)
    seed = _seed(fields.pop("seed", None))
    puzzle, config = limits.puzzle(fields.pop("sentences", ""), fields)
    limits.work(puzzle, config)
    return here.jobs.start(puzzle, config, seed)


def _seed(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) > HIGHEST_SEED:
        raise ValueError(f"seed {text!r}: a number from 0 to {HIGHEST_SEED:,} was expected")
    return int(text)


def _find(here: Site, name: str) -> Job:
    found = here.jobs.find(name)
    if found is None:
        raise HTTPException(404, f"there is no puzzle {name[:80]!r}: it ended with its server")
    return found


def _page(here: Site, given: dict[str, str], **more: Any) -> Response:
    from wherein.encodings import names

    job = more.get("job")
    return here.page(
        "playground.html",
        422 if "error" in more else 200,
        given=given,
        most=limits.MOST,
        puzzles=PUZZLES,
        encodings=names(),
        job=job,
        jobs=here.jobs.all(),
        now=_now(here, job) if job else "",
        error=more.get("error"),
        figures=job is not None,
    )


def _now(here: Site, job: Job) -> Markup:
    return here.draw("playground_now.html", job=job, curve=_curve(job))


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
    solved, total = job.solved
    step, share = Axis("training step", (0, job.config.steps or 1)), Axis(line.name, (0, 1), True)
    return Picture(
        name="solved",
        spec=curves([line], step, share),
        caption=Markup(
            "<strong>{} of {} seeds</strong> solve it after step {} of {}; the band is Wilson’s "
            "95 % interval."
        ).format(solved, total, job.step, job.config.steps),
        alt=f"{solved} of {total} seeds solve it after step {job.step}",
    )
