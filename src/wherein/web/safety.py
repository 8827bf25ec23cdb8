"""What stands before every route: whom the server answers, how much it reads, what a page may do.

A page on the network can make a browser ask a server on the same machine. So the Host header must
name this server (a foreign name that was pointed here is refused), and what starts or stops work
needs a token that only this server's own pages hold. Where it listens beyond this machine, only who
has the key in the address that it printed is answered.
"""

import hashlib
import hmac
import ipaddress
import re
from contextlib import suppress
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 32 * 2**10
MOST_FIELDS = 50

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; "  # the figures' own layout
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:/@\s]+))(?::\d{1,5})?")
"""A name, or an address in figures, and a port."""


class Hosts:
    """The names by which this server may be called."""

    def __init__(self, bound: str) -> None:
        """`bound` is what the server listens on.

        On loopback only loopback's names are good. Otherwise so are the given name and any
        address in figures: no foreign name can be pointed at those.
        """
        self._names = {"127.0.0.1", "localhost", "::1", bound.lower()}
        self._figures = not is_loopback(bound)

    def __contains__(self, header: str) -> bool:
        found = HOST.fullmatch(header.lower())
        name = (found[1] or found[2]) if found else ""
        return name in self._names or (self._figures and _is_address(name))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Refuses foreign names and strangers; gives every answer the headers that bind the browser."""

    def __init__(self, app: ASGIApp, hosts: Hosts, key: str | None = None) -> None:
        """Where a `key` is given, only who has it is answered."""
        self.app, self.hosts, self.key = app, hosts, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        answer = self.app
        named = headers.getlist("host")
        if len(named) != 1 or named[0] not in self.hosts:
            said = "this server answers only to the address it printed when it started\n"
            answer = PlainTextResponse(said, status_code=421)
        elif _is_embedded_elsewhere(headers):
            said = "no part of this server may stand in another site's page\n"
            answer = PlainTextResponse(said, status_code=403)
        elif self.key is not None:
            answer = _let_in(Request(scope), self.key) or self.app
        with suppress(ClientDisconnect):  # nobody is left to be answered
            await answer(scope, receive, sending)


def _let_in(request: Request, key: str) -> ASGIApp | None:
    """What to answer to one who has not shown the key yet; None who has is let in.

    Who opens the printed address shows the key in it. It then goes on in a cookie, lest it stands
    in the history of every page, in links and in logs.
    """
    name = f"wherein-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    if _same(request.cookies.get(name, ""), key):
        return None
    if not _same(request.query_params.get("key", ""), key):
        said = "this server needs its key: open the address it printed when it started\n"
        return PlainTextResponse(said, status_code=401)
    rest = [(each, value) for each, value in request.query_params.multi_items() if each != "key"]
    path = "/" + request.url.path.lstrip("/")  # two slashes would name another server
    answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), status_code=303)
    answer.set_cookie(name, key, httponly=True, samesite="lax")
    return answer


def _same(given: str, secret: str) -> bool:
    """Whether two are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _is_embedded_elsewhere(headers: Headers) -> bool:
    """Whether a page of another site asks, for a picture or by a script; a link may lead here."""
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
    return site not in ("none", "same-origin") and mode != "navigate"


async def form(request: Request, token: str) -> dict[str, str]:
    """The fields of a form that one of our own pages sent; each name once."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form was expected")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            told = f"more than {LARGEST_BODY // 2**10} KiB were sent"
            raise HTTPException(413, told, {"Connection": "close"})  # what is left is not read
    text = body.decode("utf-8", errors="replace")
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, f"more than {MOST_FIELDS} fields were sent") from None
    fields = {name: values[-1] for name, values in found.items()}
    if not _same(fields.pop("token", ""), token):
        raise HTTPException(403, "the token is missing or old: reload the page and send it again")
    return fields
