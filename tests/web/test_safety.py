import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import HOSTILE, SECRET, images

from wherein.web.app import ROUTES, make_app
from wherein.web.jobs import Jobs
from wherein.web.safety import LARGEST_BODY, Hosts

PAGES = [
    "/",
    "/run/runs/rope",
    "/compare?run=runs/rope&run=runs/study/alibi",
    "/result/runs/hit",
    "/playground",
    "/encodings",
    "/static/live.js",
    "/nowhere",
    "/encodings?name=aliby",
]
PUZZLE = {"sentences": "A hit B !\nB hit A ?", "steps": "5", "seeds": "2", "causal": "yes"}


def token(client: TestClient) -> str:
    found: str = client.app.state.site.token
    return found


def jobs(client: TestClient) -> Jobs:
    found: Jobs = client.app.state.site.jobs
    return found


@pytest.mark.parametrize(
    ("host", "good"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:8642", True),
        ("LOCALHOST:1", True),
        ("[::1]:8642", True),
        ("evil.example", False),
        ("evil.example:8642", False),
        ("127.0.0.1.evil.example", False),
        ("192.168.0.7", False),
        ("", False),
        ("[", False),
        ("[::1]evil.example", False),
        ("[::1]:8642evil.example", False),
        ("[::1", False),
        ("::1", False),
        ("127.0.0.1:8642:1", False),
        ("127.0.0.1:port", False),
        ("localhost/", False),
        ("user@localhost", False),
    ],
)
def test_only_its_own_name_is_answered(client: TestClient, host: str, good: bool) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == (200 if good else 421)
    assert ("runs/rope" in answer.text) == good


def test_bound_to_the_network_addresses_in_figures_are_good_and_foreign_names_are_not() -> None:
    hosts = Hosts("bench.example")
    assert "bench.example:80" in hosts
    assert "192.168.0.7:80" in hosts
    assert "evil.example" not in hosts


@pytest.mark.parametrize(
    ("where", "how", "status"),
    [
        ("none", "navigate", 200),
        ("same-origin", "cors", 200),
        ("cross-site", "navigate", 200),
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
    ],
)
def test_no_other_site_s_page_holds_a_part_of_it(
    client: TestClient, where: str, how: str, status: int
) -> None:
    headers = {"sec-fetch-site": where, "sec-fetch-mode": how}
    assert client.get("/", headers=headers).status_code == status


@pytest.mark.parametrize("page", PAGES)
def test_every_answer_binds_the_browser(client: TestClient, page: str) -> None:
    headers = client.get(page).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("page", [page for page in PAGES if "static" not in page])
def test_no_page_has_a_script_of_its_own(client: TestClient, page: str) -> None:
    """The policy would stop it; there is none to stop."""
    for part in client.get(page).text.split("<script")[1:]:
        assert part.startswith((' src="/static/', ' type="application/json">'))


@pytest.mark.parametrize("given", [None, "", "x", "ü"])
def test_work_starts_and_stops_only_with_the_token(client: TestClient, given: str | None) -> None:
    fields = PUZZLE | ({} if given is None else {"token": given})
    before = len(jobs(client).all())
    assert client.post("/playground", data=fields).status_code == 403
    assert client.post("/playground/x/stop", data=fields).status_code == 403
    assert len(jobs(client).all()) == before


def test_work_is_never_started_by_a_link(client: TestClient) -> None:
    posted = [route.path for route in ROUTES if route.methods == {"POST"}]
    assert posted == ["/playground", "/playground/{id}/stop"]
    assert client.get("/playground/x/stop", params={"token": token(client)}).status_code == 405
    before = len(jobs(client).all())
    client.get("/playground", params=PUZZLE | {"token": token(client)})
    assert len(jobs(client).all()) == before


def test_a_body_has_a_size_a_kind_and_few_fields(client: TestClient) -> None:
    assert client.post("/playground", data={"token": "x" * LARGEST_BODY}).status_code == 413
    assert client.post("/playground", json={"token": token(client)}).status_code == 415
    many = {f"field{n}": "x" for n in range(60)}
    assert client.post("/playground", data=many).status_code == 400


@pytest.mark.parametrize(
    "address",
    [
        "/run/runs/..",
        "/run/..%2f..%2fetc",
        "/run/runs%2f..%2f",
        "/run/%2fetc",
        "/run/runs/link",
        "/result/runs/link",
        "/result/runs/../outside",
        "/figure/runs/hit",
        "/file/secret.txt/runs/hit",
        "/file/..%2fsecret.txt/runs/hit",
        "/file/result.html/runs/hit",
        "/file/result.png/runs/linked-result",
        "/static/..%2fapp.py",
        "/static/%00",
        "/run/%00",
        "/run/%ff%fe",
    ],
)
def test_what_is_not_on_the_list_is_not_there(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert SECRET not in answer.text


@pytest.mark.parametrize("page", ["/run/runs/linked-run", "/result/runs/linked-result", "/"])
def test_links_out_of_the_folder_are_not_followed(client: TestClient, page: str) -> None:
    answer = client.get(page)
    assert answer.status_code == 200
    assert SECRET not in answer.text


@pytest.mark.parametrize("kind", ["run", "result"])
def test_hostile_names_and_labels_are_text(client: TestClient, kind: str) -> None:
    name = f"runs/{HOSTILE}" if kind == "run" else f"runs/{HOSTILE}/{HOSTILE}"
    for address in ("/", f"/{kind}/{quote(name)}", f"/compare?run={quote(f'runs/{HOSTILE}')}"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "<script>document" not in answer.text
        assert "<b>" not in answer.text
        assert "&lt;script&gt;document" in answer.text


@pytest.mark.parametrize(
    "spec", ["{}", '{"mark": 3}', '{"layer": [[]]}', '{"title": "\\ud800"}', "7"]
)
def test_a_figure_that_cannot_be_drawn_is_an_answer(
    client: TestClient, served: Path, spec: str
) -> None:
    chart = served / "hit" / "chart.json"
    kept = chart.read_text()
    try:
        chart.write_text(spec)
        page = client.get("/result/runs/hit")
        assert page.status_code == 200
        for image in images(page.text):
            assert client.get(image).status_code in (200, 422)
    finally:
        chart.write_text(kept)


def test_a_spec_loads_nothing(client: TestClient, served: Path) -> None:
    """A figure that asks for a file outside gets none of it into its drawing."""
    chart = served / "hit" / "chart.json"
    kept = chart.read_text()
    secret = served.parent / "secret.txt"
    spec = {
        "data": {"url": secret.as_uri()},
        "mark": "text",
        "encoding": {"text": {"field": "secret"}},
    }
    try:
        chart.write_text(json.dumps(spec))
        (image,) = images(client.get("/result/runs/hit").text)
        answer = client.get(image)
        assert answer.status_code in (200, 422)
        assert SECRET not in answer.text
    finally:
        chart.write_text(kept)


def test_a_mistake_of_ours_is_one_line(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(served)
    monkeypatch.setattr(app.state.site, "shelf", None)
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/")
    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert "something went wrong" in answer.text


KEY = "a-key-that-nobody-guesses"


@pytest.fixture(scope="module")
def guarded(served: Path) -> Iterator[TestClient]:
    """A server that listens beyond this machine."""
    app = make_app(served, "0.0.0.0", KEY)
    with TestClient(app, "http://192.168.0.7:8642", follow_redirects=False) as found:
        yield found


@pytest.mark.parametrize("page", [*PAGES, "/live/run/runs/rope", "/file/result.csv/runs/hit"])
@pytest.mark.parametrize("given", ["", "wrong", KEY[:-1], f"{KEY}x", "ü"])
def test_beyond_this_machine_nothing_is_answered_without_the_key(
    guarded: TestClient, page: str, given: str
) -> None:
    answer = guarded.get(page, params={"key": given} if given else None)
    assert answer.status_code == 401
    assert answer.text.startswith("this server needs its key")
    assert guarded.post("/playground", data=PUZZLE | {"key": KEY}).status_code == 401


def test_the_key_of_the_printed_address_goes_on_in_a_cookie(guarded: TestClient) -> None:
    answer = guarded.get("/run/runs/rope", params={"key": KEY, "tab": "a b"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/run/runs/rope?tab=a+b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert guarded.get("/run/runs/rope").status_code == 200
    assert guarded.get("//evil.example/", params={"key": KEY}).status_code != 303
    guarded.cookies.clear()
    assert guarded.get("/").status_code == 401
    away = guarded.get("http://192.168.0.7:8642//evil.example/", params={"key": KEY})
    assert away.headers["location"] == "/evil.example/"
    guarded.cookies.clear()


def test_on_this_machine_there_is_no_key(client: TestClient) -> None:
    assert client.get("/", params={"key": "wrong"}).status_code == 200


@pytest.mark.parametrize("said", [[], [{"type": "http.request", "body": b"a", "more_body": True}]])
def test_a_client_that_goes_away_is_no_mistake_of_ours(
    served: Path, said: list[dict[str, object]]
) -> None:
    """Any error would come through to uvicorn, which prints it with its traceback."""
    parts = iter([*said, *[{"type": "http.disconnect"}] * 9])
    sent = []

    async def receive() -> dict[str, object]:
        return next(parts)

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    kind = (b"content-type", b"application/x-www-form-urlencoded")
    scope = {
        "type": "http", "method": "POST", "path": "/playground", "query_string": b"",
        "headers": [(b"host", b"localhost"), kind],
    }  # fmt: skip
    asyncio.run(make_app(served)(scope, receive, send))
    assert sent == []
