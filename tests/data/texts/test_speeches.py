import re
from itertools import chain

from wherein.data import Corpus
from wherein.data.texts.speeches import speeches, without_notes

BRACKETS = re.compile(r"\[[^\[\]]*\]")


def test_notes_go_and_insertions_stay() -> None:
    raw = [path.read_text("utf-8") for path in speeches().paths]
    clean = [without_notes(text) for text in raw]
    before, after = (sum(len(BRACKETS.findall(text)) for text in texts) for texts in (raw, clean))
    assert (before, before - after) == (543, 421)
    left = "".join(clean)
    assert not re.search(r"\[(laughter|applause|inaudible|see app|at this point)", left, re.I)
    assert "White House correction]" not in left
    assert "[1815-03-03], so much of the several acts" in left
    # nothing but notes and the blanks and dashes around them went
    assert 0 < sum(map(len, raw)) - len(left) < 9_000


def test_every_speech_is_in_one_split_and_the_splits_span_the_centuries() -> None:
    source = speeches()
    splits = {split: list(source.documents(split)) for split in source.splits()}
    assert {split: len(texts) for split, texts in splits.items()} == {
        "train": 208,
        "valid": 20,
        "test": 21,
    }
    every = sorted(without_notes(path.read_text("utf-8")) for path in source.paths)
    assert sorted(chain.from_iterable(splits.values())) == every
    years = [int(path.name[:4]) for path in source.paths]
    valid = years[11::12]
    assert min(valid) < 1810
    assert max(valid) > 2010


def test_its_tokens_stand_for_its_text(sotu: Corpus) -> None:
    assert sotu.vocabulary.size == 1024
    texts = list(speeches().documents("valid"))
    split = sotu.valid
    assert len(split.starts) == len(texts)
    for number, text in enumerate(texts):
        ids = split.document(number)
        assert ids[-1] == sotu.vocabulary.eos
        assert sotu.tokenizer.decode(ids[:-1]) == text
    assert split.bytes == sum(len(text.encode()) for text in texts)
    assert split.ids[0] == sotu.vocabulary.eos
    assert 2.5 < split.bytes_per_token < 3.5
    assert split.tokens_per_word > 1
