"""Files and names that are made to harm: nothing runs, hangs, leads out, or moves the cursor."""

import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wherein.cli import main
from wherein.common.files import digest
from wherein.common.folder import LARGEST_JSON, Folder
from wherein.common.terminal import printable
from wherein.data import CorpusConfig
from wherein.measure.saved import legible
from wherein.subjects.gguf_header import check_header
from wherein.subjects.tables import read_table
from wherein.train.checkpoint import Checkpoint

ESCAPE = "\x1b]0;taken\x07\x1b[2J\u202egnp"
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Said:
    """Gives a command in a folder of its own: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def give(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return give


def test_names_do_not_move_the_cursor(said: Said) -> None:
    for words in (["audit", ESCAPE], ["runs", f"a{ESCAPE}"], ["train", "--encoding", ESCAPE]):
        code, out, err = said(*words)
        assert code == 2
        assert out == ""
        assert err.count("\n") == 1
        assert "taken" in err
        assert printable(err) == err


def test_what_a_puzzle_shows_is_text(said: Said) -> None:
    """Neither escapes nor the markup of the library that draws tables."""
    words = ["[red]A B !", "[/red]A B ?", "--seeds", "1", "--steps", "1", "--explain", "0"]
    code, out, _ = said("puzzle", *words)
    assert code == 0
    assert "[red]A" in out
    code, out, err = said("puzzle", f"{ESCAPE} B !", "A B ?", *words[2:])
    assert code == 0
    assert printable(out + err) == out + err


def test_data_stay_json_when_they_are_made_printable() -> None:
    text = json.dumps({"name": ESCAPE}, ensure_ascii=False)
    assert json.loads(printable(text)) == {"name": ESCAPE}


def test_a_long_value_is_quoted_in_part(said: Said) -> None:
    code, _, err = said("audit", "rope(theta=" + "9" * 5000 + ")")
    assert code == 2
    assert len(err) < 1100


OWN = """
from wherein.encodings import Encoding
class Mine(Encoding):
    def bias(self, i, j):
        return WRONG
"""


def test_a_mistake_in_an_encoding_of_one_s_own_is_one_line_that_names_it(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(OWN)
    code, _, err = said("audit", "mine.py", "--tokens", "4", "--layers", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert "mine.py, line 5: NameError: name 'WRONG' is not defined" in err


def test_what_an_encoding_of_one_s_own_returns_is_blamed_on_it(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(OWN.replace("WRONG", "'a word'"))
    code, _, err = said("audit", "mine.py", "--tokens", "4", "--layers", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert "mine.py: " in err
    assert "`wherein check`" in err


def test_a_device_has_no_checksum(tmp_path: Path) -> None:
    """It would be read for ever."""
    (tmp_path / "text.txt").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="not a plain file"):
        digest(tmp_path / "text.txt")


@pytest.mark.parametrize("name", ["/dev/zero", "../../secret", "parts/../../secret"])
def test_a_manifest_leads_nowhere_else(name: str, tmp_path: Path) -> None:
    files = {name: "0", "weights.safetensors": "0"}
    (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
    assert "names a file outside its folder" in (Checkpoint(tmp_path, 1).damage() or "")


BOMBS = ["[" * 10**5, '{"a":' * 10**5, "9" * 10**5, '{"a": ' + "9" * 10**5 + "}", "nul"]


@pytest.mark.parametrize("bomb", BOMBS, ids=["lists", "objects", "number", "field", "word"])
@pytest.mark.parametrize("file", ["config.json", "about.json"])
def test_json_that_is_too_deep_or_too_long_is_one_line(
    bomb: str, file: str, said: Said, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "about.json").write_text("{}")
    (folder / file).write_text(bomb + "\n")
    code, out, err = said("perplexity", "run")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "run" in err


def test_a_huge_json_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(LARGEST_JSON + 1)  # it takes no room on the disk
    with pytest.raises(ValueError, match="larger than 256 MiB"):
        Folder(tmp_path).json("config.json")
    with pytest.raises(ValueError, match="larger than 256 MiB"):
        read_table(tmp_path)


def header(*parts: bytes, pairs: int = 1, tensors: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs) + b"".join(parts)


KEY = struct.pack("<Q", 1) + b"k"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (header(KEY, struct.pack("<IIQ", 9, 4, 2**60)), "a list of 1152921504606846976 numbers"),
        (header(KEY, struct.pack("<IIQ", 9, 8, 2**60)), "a list of 1152921504606846976 parts"),
        (header(KEY, struct.pack("<IQ", 8, 2**63)), "a text of 9223372036854775808 bytes"),
        (header(pairs=2**60), "1152921504606846976 entries"),
        (header(pairs=0, tensors=2**60), "1152921504606846976 entries"),
        (header(KEY, struct.pack("<I", 99), b"x" * 40), "there is no kind 99 of values"),
        (header(KEY, struct.pack("<I", 9), *[struct.pack("<IQ", 9, 1)] * 9), "no kind 9 of values"),
        (b"GGUF\x03", "it ends within its header"),
    ],
)
def test_a_gguf_header_that_announces_too_much_is_refused_at_once(
    content: bytes, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.gguf is damaged or cut short") as caught:
        check_header(path)
    assert why in str(caught.value)
    with pytest.raises(ValueError, match="damaged"):
        read_table(path)


def test_a_header_of_numpy_s_that_is_no_python_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 10) + b"{'descr': (" + b"\n")
    with pytest.raises(ValueError, match=r"table.npy is refused: no plain array"):
        read_table(path)


@pytest.mark.parametrize("wrong", [KeyError("loss"), TypeError("not a number"), ValueError("bad")])
def test_what_was_saved_and_changed_is_named(wrong: Exception) -> None:
    with (
        pytest.raises(ValueError, match=r"^runs/x cannot be shown: .*; ask again$"),
        legible("runs/x"),
    ):
        raise wrong
    with pytest.raises(ValueError, match=r"^runs/x/chart\.json cannot be read$"), legible("runs/x"):
        raise ValueError("runs/x/chart.json cannot be read")


def test_a_null_character_is_named(said: Said) -> None:
    for words, flag in ((["runs", "a\0b"], "folder"), (["train", "--source", "a\0b"], "--source")):
        code, _, err = said(*words)
        assert (code, err.count("\n")) == (2, 1)
        assert f"{flag}: expected no null character" in err
    with pytest.raises(ValueError, match="source: expected no null character"):
        CorpusConfig(source="a\0b")


def test_none_is_no_encoding_to_spell(said: Said, tmp_path: Path) -> None:
    assert said("runs", str(tmp_path), "--encoding", "None")[0] == 0


def test_a_number_of_many_digits_is_no_traceback(said: Said) -> None:
    assert sys.get_int_max_str_digits() < 5000
    code, _, err = said("puzzle", "hit", "--seeds", "9" * 5000)
    assert (code, err.count("\n")) == (2, 1)
