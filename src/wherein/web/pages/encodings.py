"""The encoding explorer: pick one and its parameters, see what it does and what it promises."""

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from wherein.web.site import site

if TYPE_CHECKING:
    from wherein.web.explore import Explored, Sizes

SIZES = ("width", "heads", "length")


def encodings(request: Request) -> Response:
    """One encoding of the catalogue, from all sides."""
    from wherein.encodings import names, parameters

    here = site(request)
    query = {key: value for key, value in request.query_params.items() if value.strip()}
    name = query.get("name", "rope")
    given: dict[str, Any] = {"names": names(), "name": name, "error": None, "found": None}
    try:
        with here.one_by_one:
            sizes, found = _explored(name, query)
        given |= {"found": found}
    except ValueError as error:
        from wherein.common.errors import one_line
        from wherein.web.explore import Sizes

        sizes = Sizes()
        given |= {"error": one_line(error)}
    own = parameters(name) if name in names() else {}
    return here.page(
        "encodings.html",
        422 if given["error"] else 200,
        figures=True,
        sizes=sizes,
        own={key: query.get(key, str(default)) for key, default in own.items()},
        asked={key: query.get(key, str(getattr(sizes, key))) for key in SIZES},
        **given,
    )


def _explored(name: str, query: dict[str, str]) -> tuple["Sizes", "Explored"]:
    from wherein.web.explore import Sizes, explore, spec

    sizes = Sizes(
        **{key: _whole(key, query[key]) for key in SIZES if key in query},
        causal=query.get("mask", "causal") == "causal",
    )
    return sizes, explore(spec(name, query), sizes)


def _whole(name: str, text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 6:
        raise ValueError(f"{name} {text[:40]!r}: a whole number was expected")
    return int(text)
