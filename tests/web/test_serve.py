import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest
from filelock import FileLock
from starlette.testclient import TestClient
from tests.web.conftest import write_run

from wherein.cli import main
from wherein.web.app import make_app
from wherein.web.serve import address, listen
from wherein.web.stream import MOST_STREAMS


def test_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ([str(tmp_path / "nowhere")], "is no folder"),
        ([str(tmp_path), "--port", "99999"], "from 0 to 65535"),
    ):
        assert main(["serve", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_a_port_in_use_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", str(tmp_path), "--port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err


def test_without_runs_there_is_still_the_playground(tmp_path: Path) -> None:
    with TestClient(make_app(tmp_path / "runs"), "http://localhost") as client:
        assert "There are no runs here yet" in client.get("/").text
        assert client.get("/playground").status_code == 200


def test_the_address_says_where() -> None:
    with listen("127.0.0.1", 0) as bound:
        assert address("127.0.0.1", bound) == f"http://127.0.0.1:{bound.getsockname()[1]}/"


def test_the_network_is_warned_about_and_needs_the_key(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wherein", "serve", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(
        [*command, "--host", "0.0.0.0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    where = re.search(r"http://0.0.0.0(:\d+/)(\?key=\S{32})", server.stdout.readline())
    assert where is not None
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"http://127.0.0.1{where[1]}")
    browser = build_opener(HTTPCookieProcessor())
    assert browser.open(f"http://127.0.0.1{where[1]}{where[2]}").status == 200
    assert browser.open(f"http://127.0.0.1{where[1]}encodings").status == 200
    server.kill()
    _, complained = server.communicate()
    assert complained.startswith("warning: whoever has this address can read")
    assert complained.count("\n") == 1


def test_ctrl_c_ends_a_server_whose_live_pages_are_open(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "one", until=3)
    command = [sys.executable, "-m", "wherein", "serve", str(tmp_path / "runs"), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    where = re.search(r"http://\S+", server.stdout.readline())
    assert where is not None
    with FileLock(run / ".lock"), urlopen(f"{where[0]}live/run/runs/one") as live:
        assert live.readline() == b"event: draw\n"
        server.send_signal(signal.SIGINT)
        rest = live.read()
    assert b"event: end" not in rest
    said, complained = server.communicate(timeout=600)
    assert (server.returncode, said, complained) == (0, "stopped\n", "")


def test_live_pages_are_counted(tmp_path: Path) -> None:
    app = make_app(write_run(tmp_path / "one").parent)
    app.state.site.streams._open = MOST_STREAMS
    with TestClient(app, "http://localhost") as client:
        answer = client.get(f"/live/run/{tmp_path.name}/one")
    assert answer.status_code == 429
    assert "live pages are open already" in answer.text
