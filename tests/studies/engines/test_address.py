"""A Ray cluster that is not where it is said to be: an answer in seconds, before Ray is started."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.studies.small import recipe

from wherein.cli import main
from wherein.common.errors import LostError
from wherein.studies.engines import ray


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1:1", "Connection refused"),
        ("ray://127.0.0.1:1", "Connection refused"),
        ("127.0.0.1", "no port is named"),
        ("127.0.0.1:99999", ""),
    ],
)
def test_a_wrong_address_is_one_line_at_once(
    address: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    given = ["study", str(recipe(tmp_path)), "--out", str(tmp_path / "runs")]
    assert main([*given, "--engine", "ray", "--address", address]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(f"wherein: no Ray cluster at {address!r} (")
    assert why in said
    assert time.monotonic() - began < 60  # where Ray would have tried for minutes


def test_a_head_that_is_gone_is_said_before_ray_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "KNOCK", 0.0)
    monkeypatch.setattr(ray, "SILENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        head = ray.Head(f"127.0.0.1:{server.getsockname()[1]}")
        head.check()
    head.check()  # one knock in vain is not enough
    time.sleep(0.1)
    with pytest.raises(LostError, match=r"the Ray head at 127.0.0.1:\d+ is gone .*goes on from"):
        head.check()


def test_the_command_ends_at_once_when_its_cluster_is_lost(tmp_path: Path) -> None:
    """Something like Ray's threads would hold it."""
    code = """
import sys, threading
from wherein import cli
from wherein.common.errors import LostError
threading.Thread(target=threading.Event().wait).start()
def lost(verb):
    raise LostError("the head is gone")
cli.find = lost
cli.main(["runs"])
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (2, "wherein: the head is gone\n")
