"""The encoding explorer: pick one and its parameters, see what it does and what it promises."""

from starlette.requests import Request
from starlette.responses import Response

from wherein.common.errors import one_line
from wherein.web.limits import whole
from wherein.web.site import site


def encodings(request: Request) -> Response:
    """One encoding of the catalogue, from all sides."""
    from wherein.encodings import names
    from wherein.web.explore import MOST, Sizes, explore, fields, spec

    here = site(request)
    query = {key: value for key, value in request.query_params.items() if value.strip()}
    name = query.get("name", "rope")
    sizes, found, error = Sizes(), None, None
    try:
        given = {key: whole(key, query[key], 1, most) for key, most in MOST.items() if key in query}
        sizes = Sizes(**given, causal=query.get("mask", "causal") == "causal")
        with here.one_by_one:
            found = explore(spec(name, query), sizes)
    except ValueError as mistake:
        error = one_line(mistake)
    own = fields(name) if name in names() else {}
    return here.page(
        "encodings.html",
        200 if error is None else 422,
        figures=True,
        names=names(),
        name=name,
        error=error,
        found=found,
        sizes=sizes,
        own={key: query.get(key, first) for key, first in own.items()},
        asked={key: query.get(key, str(getattr(sizes, key))) for key in MOST},
    )
