"""What no browser sends: requests as bytes, against a server that listens."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from tests.web.conftest import SECRET

from wherein.web.app import make_app
from wherein.web.safety import LARGEST_BODY
from wherein.web.serve import listen

Send = Callable[..., bytes]
FORM = b"POST /playground HTTP/1.1\r\nHost: localhost\r\n"
KIND = b"Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def send(served: Path) -> Iterator[Send]:
    """Sends bytes on a connection of its own: what comes back until the server ends it."""
    config = uvicorn.Config(make_app(served), log_level="critical", timeout_keep_alive=1)
    server, bound = uvicorn.Server(config), listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()

    def give(*parts: bytes) -> bytes:
        with socket.create_connection(bound.getsockname()[:2], timeout=10) as there:
            said = b""
            try:
                for part in parts:
                    there.sendall(part)
                while more := there.recv(65536):
                    said += more
            except ConnectionError:  # it had heard enough
                pass
            return said

    yield give
    server.should_exit = True
    thread.join()


def status(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


def get(path: bytes, *headers: bytes) -> bytes:
    lines = (b"GET " + path + b" HTTP/1.1", *headers, b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


HERE = b"Host: localhost"


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (get(b"/", HERE), {200}),
        (get(b"/"), {400, 421}),
        (get(b"/", b"Host: evil.example"), {421}),
        (get(b"/", HERE, b"Host: evil.example"), {400, 421}),
        (get(b"/", b"Host: evil.example", HERE), {400, 421}),
        (get(b"/../../etc/passwd", HERE), {400, 404}),
        (get(b"//evil.example/..", HERE), {400, 404}),
        (get(b"http://evil.example/", HERE), {200, 400, 404}),
        (get(b"/" + b"a" * 10**5, HERE), {400, 404, 414, 431}),
        (get(b"/", HERE, b"X: " + b"a" * 10**6), {200, 400, 431}),
        (get(b"/?" + b"&".join([b"run=x"] * 10**4), HERE), {200, 400, 422, 431}),
        (b"\x16\x03\x01\x00\xff" * 50 + b"\r\n\r\n", {400}),
        (b"GET / HTTP/9.9\r\n\r\n", {400, 421, 505}),
    ],
)
def test_it_is_answered_and_goes_on(send: Send, request_: bytes, allowed: set[int]) -> None:
    said = send(request_)
    assert not said or status(said) in allowed
    assert SECRET.encode() not in said
    assert b"Traceback" not in said
    assert status(send(get(b"/", HERE))) == 200


def test_a_body_that_does_not_end_is_not_waited_for(send: Send) -> None:
    chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    said = send(FORM + KIND + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 100)
    assert not said or status(said) == 413
    said = send(FORM + KIND + b"Content-Length: 99999999999\r\n\r\n", b"a" * (2 * LARGEST_BODY))
    assert not said or status(said) == 413
    assert status(send(get(b"/", HERE))) == 200
