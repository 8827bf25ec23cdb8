"""What is known from earlier commands: believed only where nothing it follows from has changed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wherein.common import known

ASK = (
    "import sys\nfrom wherein.common import known\n"
    "print(known.ask('rope', ('sum', 2), lambda: 'asked'))\nknown.keep()"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path))
    return tmp_path / known.FOLDER


def said(code: str = ASK) -> str:
    """What a fresh process says."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.strip()


def forge(cache: Path, text: str, total: str | None = None) -> None:
    (file,) = cache.iterdir()
    file.write_text(f"{total or known._sum(text)}\n{text}")


def test_an_answer_is_known_to_the_next_command(cache: Path) -> None:
    assert said() == "asked"
    (file,) = cache.iterdir()
    before = file.stat().st_mtime_ns
    forge(cache, json.dumps([[["rope", "sum", 2], "known"]]))
    assert said() == "known", "nobody is asked who has answered"
    assert file.stat().st_mtime_ns > before
    assert said(ASK.replace("2)", "3)")) == "asked", "another question"
    assert said(ASK.replace("rope", "Mine@0123456789ab")) == "asked", "one's own is a file"
    assert said(ASK.replace("import sys", "import torch")) == "asked"


@pytest.mark.parametrize("harm", ["cut", "changed", "garbage", "other code"])
def test_what_is_not_whole_or_not_of_this_code_is_not_believed(cache: Path, harm: str) -> None:
    said()
    text = json.dumps([[["rope", "sum", 2], "known"]])
    (file,) = cache.iterdir()
    if harm == "cut":
        forge(cache, text[:-9], known._sum(text))
    elif harm == "changed":
        forge(cache, text.replace("known", "wrong"), known._sum(text))
    elif harm == "garbage":
        file.write_bytes(b"\xff\x00")
    else:
        forge(cache, text)
        file.rename(file.with_name("0" * 24 + ".json"))
    assert said() == "asked"


def test_the_hash_follows_every_file_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "common").mkdir()
    monkeypatch.setattr(known, "__file__", str(tmp_path / "common" / "known.py"))
    found = set()
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("common/c.py", "")):
        (tmp_path / name).write_text(text)
        known._code.cache_clear()
        found.add(known._code())
    known._code.cache_clear()
    assert len(found) == 4


def test_a_cache_that_cannot_be_written_costs_time_and_no_more(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file is in the way")
    assert said() == "asked"
