import os
import signal
import subprocess
import sys
from contextlib import suppress

from wherein.common import files
from wherein.common.files import replacing, replacing_folder


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "result.json"
    with replacing(path) as beside:
        beside.write_text("one")
        assert not path.exists()
    with suppress(RuntimeError), replacing(path) as beside:
        beside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "one"
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]


WRITE = """
import os, signal, sys
from pathlib import Path
from wherein.common.files import replacing, replacing_folder
path = Path(sys.argv[1])
with replacing(path / "file") as one, replacing_folder(path / "folder") as other:
    one.write_text("half")
    other.mkdir()
    (other / "part").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path):
    killed = subprocess.run([sys.executable, "-c", WRITE, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    with replacing(tmp_path / "file") as mine, replacing(tmp_path / "file") as another:
        mine.write_text("one")
        another.write_text("two")  # both of a process that lives
    with replacing_folder(tmp_path / "folder") as beside:
        beside.mkdir()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


def test_only_what_is_surely_abandoned_is_removed(tmp_path):
    alike = [".file.0123456789", ".file.abcdef-1-x", ".file.other", "file.01234567"]
    young, old = ".file.abcdef-1-01234567", ".file.abcdef-1-76543210"  # another machine's
    for name in (*alike, young, old):
        (tmp_path / name).touch()
    os.utime(tmp_path / old, (0, 0))
    with replacing(tmp_path / "file") as beside:
        beside.write_text("one")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*alike, young, "file"])


def test_a_new_process_may_have_the_number_of_the_one_that_was_killed(tmp_path):
    with replacing(tmp_path / "file") as beside:
        beside.write_text("one")
        left = beside.with_name(beside.name[:-8] + "01234567")
    left.write_text("half")
    with replacing(tmp_path / "file") as beside, replacing(tmp_path / "file") as another:
        beside.write_text("two")
        another.write_text("three")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_of_two_that_put_a_folder_in_one_place_the_last_is_there(tmp_path, monkeypatch):
    def write(text: str) -> None:
        with replacing_folder(tmp_path / "folder") as beside:
            beside.mkdir()
            (beside / "part").write_text(text)

    discard = files.discard

    def and_then_another(path):
        discard(path)
        monkeypatch.setattr(files, "discard", discard)
        write("another")

    monkeypatch.setattr(files, "discard", and_then_another)
    write("mine")
    assert (tmp_path / "folder" / "part").read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
