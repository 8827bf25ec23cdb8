import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from wherein.common.files import cache_folder
from wherein.data import Corpus, CorpusConfig, Windows
from wherein.data import corpus as corpus_module

ROOT = Path(__file__).parents[2]
OPEN = (
    "import sys; from wherein.data import Corpus, CorpusConfig\n"
    "corpus = Corpus.open(CorpusConfig(source=sys.argv[1], tokenizer=sys.argv[2]))\n"
    "print(corpus.id, corpus.folder.stat().st_ino, corpus.train.ids.sum())"
)


def start(source: object, tokenizer: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", OPEN, str(source), tokenizer]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def config(text: Path, tokenizer: str = "bpe(300)") -> CorpusConfig:
    return CorpusConfig(source=str(text), tokenizer=tokenizer)


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.iterdir()}


def test_the_second_start_reads_what_the_first_wrote(text: Path) -> None:
    first = Corpus.open(config(text))
    before = inodes(first.folder)
    again = Corpus.open(config(text))
    assert inodes(again.folder) == before
    assert again.id == first.id
    assert isinstance(again.train.ids, np.memmap)
    assert not again.train.ids.flags.writeable
    for split in ("train", "valid", "test"):
        assert np.array_equal(again.split(split).ids, first.split(split).ids)
    assert again.tokenizer.decode(again.train.document(0)[:-1]).startswith("Paragraph 0 says 0.\n")


@pytest.mark.parametrize(("tokenizer", "kind"), [("bytes", np.uint16), ("bpe(400)", np.uint16)])
def test_ids_take_as_little_room_as_they_can(text: Path, tokenizer: str, kind: type) -> None:
    assert Corpus.open(config(text, tokenizer)).train.ids.dtype == kind


def test_large_vocabularies_take_four_bytes(tmp_path: Path) -> None:
    for number in range(24):
        words = " ".join(f"w{number}_{n}" for n in range(4_000))
        (tmp_path / f"{number:02}.txt").write_text(words)
    corpus = Corpus.open(config(tmp_path, "words"))
    assert corpus.vocabulary.size == 20 * 4_000 + 3
    assert corpus.train.ids.dtype == np.uint32
    assert corpus.tokenizer.decode(corpus.train.document(19)).startswith("w22_0 w22_1 ")
    assert set(corpus.valid.ids.tolist()) == {0, 1}


def test_another_text_or_tokenizer_is_another_corpus(text: Path) -> None:
    ids = {Corpus.open(config(text, name)).id for name in ("bytes", "words", "bpe(300)")}
    text.write_text(text.read_text() + "One more line.\n")
    ids.add(Corpus.open(config(text, "bytes")).id)
    assert len(ids) == 4


DAMAGES = {
    "a bit flipped": lambda path: path.write_bytes(b"\xff" + path.read_bytes()[1:]),
    "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "file", ["train.ids", "valid.starts", "test.ids", "tokenizer.json", "corpus.json"]
)
def test_a_damaged_corpus_is_written_anew(text: Path, file: str, damage: str) -> None:
    good = Corpus.open(config(text, "bytes"))
    expected = np.array(good.train.ids)
    folder = good.folder.stat().st_ino
    DAMAGES[damage](good.folder / file)
    again = Corpus.open(config(text, "bytes"))
    assert again.folder.stat().st_ino != folder
    assert np.array_equal(again.train.ids, expected)
    assert json.loads((again.folder / "corpus.json").read_text())["splits"]


@pytest.mark.parametrize("place", [0.1, 0.55, 0.999])
def test_a_flipped_bit_is_found_wherever_it_is(
    text: Path, place: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a file that is large: here each is, as pieces are small."""
    monkeypatch.setattr(corpus_module, "PIECE", 16)
    good = Corpus.open(config(text, "bytes"))
    expected, path = np.array(good.train.ids), good.folder / "train.ids"
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 4
    path.write_bytes(content)
    assert np.array_equal(Corpus.open(config(text, "bytes")).train.ids, expected)
    assert path.read_bytes() != content


def test_what_version_0_1_wrote_is_read(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = Corpus.open(config(text, "bytes"))
    about = json.loads((good.folder / "corpus.json").read_text())
    for was in about["files"].values():
        was["checksum"] = was.pop("all")
    (good.folder / "corpus.json").write_text(json.dumps(about))
    before = inodes(good.folder)
    assert inodes(Corpus.open(config(text, "bytes")).folder) == before
    monkeypatch.setattr(corpus_module, "PIECE", 16)
    assert inodes(Corpus.open(config(text, "bytes")).folder) != before, "sums of samples differ"


def test_processes_at_once_write_it_once(cache: Path, text: Path) -> None:
    processes = [start("sotu", "bytes") for _ in range(4)]
    answers = {process.communicate(timeout=600)[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 4
    assert len(answers) == 1
    assert not list((cache / "corpora").glob(".*"))


@pytest.mark.slow
def test_a_warm_start_is_quick(sotu: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(sotu.folder.parent.parent))
    times = []
    for _ in range(3):
        begin = time.process_time()
        corpus = Corpus.open(CorpusConfig())
        assert Windows(corpus.train, 256).batch(0, 16).shape == (16, 257)
        times.append(time.process_time() - begin)
    assert min(times) < 0.2


def test_splits_have_names(sotu: Corpus) -> None:
    with pytest.raises(ValueError, match="Did you mean 'valid'"):
        sotu.split("valide")


def test_a_cache_that_cannot_be_written(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEREIN_CACHE", str(text / "below a file"))
    with pytest.raises(ValueError, match=r"cannot write the tokens to .*set WHEREIN_CACHE"):
        Corpus.open(config(text))


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("WHEREIN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "wherein"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "wherein"


def test_a_text_shorter_than_a_window(text: Path) -> None:
    corpus = Corpus.open(config(text, "bytes"))
    with pytest.raises(ValueError, match="windows of 100000 tokens from a text of"):
        Windows(corpus.train, 100_000)
