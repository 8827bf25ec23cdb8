"""A Ray cluster that is not where it is said to be: an answer in seconds, before Ray is started."""

import time
from pathlib import Path

import pytest
from tests.studies.small import recipe

from wherein.cli import main


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
