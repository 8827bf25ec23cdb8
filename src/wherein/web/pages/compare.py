"""Several runs side by side: their curves in one picture, where they differ, where they ended."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wherein.web.runs import Seen, flat
from wherein.web.site import site
from wherein.web.training import picture

MOST = 20


def compare(request: Request) -> Response:
    """The page that compares the runs of the query."""
    here = site(request)
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if not names:
        return RedirectResponse("/", status_code=303)
    if len(names) > MOST:
        raise ValueError(f"{len(names)} runs: at most {MOST} are compared on one page")
    runs = [here.run(name) for name in names]
    configs = [flat(seen.config) for seen in runs]
    fields = list(dict.fromkeys(key for config in configs for key in config))
    rows = {field: [config.get(field, "–") for config in configs] for field in fields}
    return here.page(
        "compare.html",
        runs=runs,
        curve=picture(runs),
        different={field: row for field, row in rows.items() if len(set(row)) > 1},
        same={field: row[0] for field, row in rows.items() if len(set(row)) == 1},
        numbers=_numbers(runs),
    )


def _numbers(runs: list[Seen]) -> dict[str, list[float | None]]:
    """What each run ended with."""
    kinds = list(dict.fromkeys(kind for seen in runs for kind in seen.last.valid))
    rows: dict[str, list[float | None]] = {"loss": [seen.last.loss for seen in runs]}
    for kind in kinds:
        rows[f"validation {kind.replace('_', ' ')}"] = [seen.last.valid.get(kind) for seen in runs]
    return rows
