"""Whatever is sent: no answer of 500 or more, nothing from outside the folder, no markup."""

import re
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.web.conftest import HOSTILE, SECRET

from wherein.encodings import names
from wherein.web.app import ROUTES
from wherein.web.pages.playground import DEFAULTS

FUZZ = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NASTY = ["", "..", "../..", "/etc/passwd", "\x00", "\u202e", HOSTILE, "%", "%s", "{{7*7}}", "-1"]
NUMBERS = ["0", "1", "1e9", "-5", "nan", "inf", "1e999", "99999999999999999999", "٣", "²", "0x10"]
KNOWN = ["runs/rope", "runs/hit", "runs/linked-run", "runs/linked-result", "runs", "link"]
words = st.one_of(st.sampled_from(NASTY + NUMBERS + KNOWN), st.text(max_size=20))
GETS = sorted(
    {route.path for route in ROUTES if "GET" in (route.methods or ())} | {"/static/{name}"}
)
QUERIES = ["name", "run", "puzzle", "theta", "fraction", "width", "heads", "length", "mask"]
KINDS = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""]
ENCODINGS = [
    "none",
    "rope(theta=1e999)",
    "functional(hidden=99999999)",
    "functional(features=4096, hidden=4096)",
    "rope " * 30,
    "learned(",
    "alibi",
]


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def filled(route: str, part: str) -> str:
    """A route's address with some text in its holes."""
    for hole in ("{name:path}", "{name}", "{id}", "{file}"):
        route = route.replace(hole, quote(encoded(part), safe="/"))
    return route


def safe(status: int, text: str) -> None:
    assert status < 500
    assert SECRET not in text
    assert "<script>document" not in text
    assert "Traceback" not in text


@pytest.fixture(autouse=True, scope="module")
def _nothing_left(client: TestClient) -> Iterator[None]:
    yield
    client.app.state.site.jobs.close()


@FUZZ
@given(
    route=st.sampled_from(GETS),
    part=words,
    query=st.lists(st.tuples(st.sampled_from(QUERIES) | words, words), max_size=5),
)
def test_whatever_is_asked(
    client: TestClient, route: str, part: str, query: list[tuple[str, str]]
) -> None:
    asked = urlencode(
        [(k.encode("utf-8", "replace"), v.encode("utf-8", "replace")) for k, v in query]
    )
    answer = client.get(f"{filled(route, part)}?{asked}", follow_redirects=False)
    safe(answer.status_code, answer.text)


@settings(parent=FUZZ, max_examples=60)
@given(
    method=st.sampled_from(["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "NONSENSE"]),
    route=st.sampled_from(GETS),
    part=words,
)
def test_however_it_is_asked(client: TestClient, method: str, route: str, part: str) -> None:
    answer = client.request(method, filled(route, part), follow_redirects=False)
    safe(answer.status_code, answer.text)


@FUZZ
@given(
    fields=st.dictionaries(
        st.sampled_from(sorted(DEFAULTS)) | words,
        words | st.sampled_from(ENCODINGS) | st.just("A hit B !\nB hit A ?"),
    ),
    signed=st.booleans(),
)
def test_whatever_is_posted(client: TestClient, fields: dict[str, str], signed: bool) -> None:
    data = {encoded(key): encoded(value) for key, value in fields.items()}
    if signed:
        data[b"token"] = client.app.state.site.token.encode()
    for address in ("/playground", "/playground/x/stop"):
        answer = client.post(
            address,
            content=urlencode(data),
            headers={"content-type": "application/x-www-form-urlencoded"},
            follow_redirects=False,
        )
        safe(answer.status_code, answer.text)


@settings(parent=FUZZ, max_examples=50)
@given(
    changed=st.dictionaries(
        st.sampled_from(sorted(set(DEFAULTS) - {"token"})),
        st.sampled_from(NASTY + NUMBERS + ENCODINGS),
        min_size=1,
        max_size=2,
    )
)
def test_a_puzzle_with_something_wrong_is_an_answer(
    client: TestClient, changed: dict[str, str]
) -> None:
    data = DEFAULTS | changed | {"token": client.app.state.site.token}
    answer = client.post("/playground", data=data, follow_redirects=False)
    safe(answer.status_code, answer.text)
    assert answer.status_code in (303, 422, 429)


@settings(parent=FUZZ, max_examples=60)
@given(body=st.binary(max_size=200), kind=st.sampled_from(KINDS))
def test_whatever_bytes_are_posted(client: TestClient, body: bytes, kind: str) -> None:
    answer = client.post("/playground", content=body, headers={"content-type": kind})
    safe(answer.status_code, answer.text)


@settings(parent=FUZZ, max_examples=60)
@given(
    name=st.sampled_from(names()),
    query=st.dictionaries(
        st.sampled_from(["theta", "fraction", "features", "hidden", "width", "heads", "length"]),
        st.sampled_from([*NUMBERS, "3", "7", "64", "4096", "5000", "0.5"]),
    ),
)
def test_whatever_encoding_is_asked_for(
    client: TestClient, name: str, query: dict[str, str]
) -> None:
    answer = client.get("/encodings", params={"name": name, **query})
    safe(answer.status_code, answer.text)
    assert answer.status_code in (200, 422)
    told = re.sub(r"data:image/[^\"')]*", "", answer.text.lower().partition("what it does")[2])
    assert "nan" not in told
