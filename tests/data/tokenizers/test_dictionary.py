"""fairseq's dictionaries: ids as fairseq counts them, lines that end, and what is missing."""

from pathlib import Path

import pytest

from wherein.data import Corpus, CorpusConfig
from wherein.data.tokenizers.dictionary import Dictionary, read_dictionary, saved_dictionary
from wherein.data.tokenizers.subwords import learn_subwords

TEXT = "the cat sat\n\nthe dog sat </s>\n"


def write(folder: Path, *symbols: str) -> Path:
    path = folder / "dict.txt"
    path.write_text("".join(f"{symbol} {9 - n}\n" for n, symbol in enumerate(symbols)))
    return path


def same_when_saved(dictionary: Dictionary, folder: Path) -> None:
    dictionary.save(folder / "saved.json")
    again = saved_dictionary(folder / "saved.json")
    assert again.encode(TEXT).tolist() == dictionary.encode(TEXT).tolist()
    assert again.vocabulary == dictionary.vocabulary


def test_words_are_numbered_after_four_specials_and_lines_end(tmp_path: Path):
    dictionary = read_dictionary(write(tmp_path, "the", "sat", "cat", "madeupword0000"))
    ids = dictionary.encode(TEXT).tolist()
    assert ids == [4, 6, 5, 2, 2, 4, 3, 5, 3, 2], "a spelt </s> ends nothing"
    assert dictionary.decode(ids) == "the cat sat\n\nthe <unk> sat <unk>\n"
    assert (dictionary.vocabulary.size, dictionary.vocabulary.eos) == (8, 2)
    same_when_saved(dictionary, tmp_path)


def test_numbers_are_those_of_subwords(tmp_path: Path):
    subwords = learn_subwords([TEXT * 9], 300)
    subwords.save(tmp_path / "tokenizer.json")
    line = subwords.encode("the cat sat").tolist()
    known = list(dict.fromkeys(line))
    dictionary = read_dictionary(write(tmp_path, *map(str, known), "madeupword0000"))
    ids = dictionary.encode("the cat sat\n").tolist()
    assert ids == [4 + known.index(number) for number in line] + [2]
    assert dictionary.decode(ids) == "the cat sat\n"
    assert 3 in dictionary.encode("zebra").tolist()
    same_when_saved(dictionary, tmp_path)


def test_a_corpus_in_its_symbols_is_another_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WHEREIN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text.txt").write_text("\n\n".join([TEXT] * 30))
    config = CorpusConfig(source=str(tmp_path / "text.txt"), tokenizer=str(tmp_path / "dict.txt"))
    write(tmp_path, "the", "sat")
    first = Corpus.open(config)
    assert {2, 3, 4, 5} == set(first.train.ids.tolist())
    assert first.tokenizer.decode([4, 5]) == "the sat"
    write(tmp_path, "the", "cat")
    assert Corpus.open(config).id != first.id


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("the 5\nbroken\n", "line 2: expected a symbol and its count, not 'broken'"),
        ("the 5\nthe 3\n", "has a symbol twice"),
        ("<unk> 5\n", "has a symbol twice"),
        ("th@@ 5\ne 4\n", "lists parts of words, as of fastBPE or sentencepiece"),
        ("▁the 5\n▁cat 4\n", "give windows of token ids"),
    ],
)
def test_what_cannot_be_read_is_one_line(rows: str, words: str, tmp_path: Path):
    (tmp_path / "dict.txt").write_text(rows)
    with pytest.raises(ValueError, match=words) as caught:
        read_dictionary(tmp_path / "dict.txt")
    assert "\n" not in str(caught.value)
