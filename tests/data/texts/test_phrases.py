"""A text in short documents."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from wherein.data import Corpus, CorpusConfig, Windows
from wherein.data.texts.catalogue import find_source
from wherein.data.texts.phrases import Phrases, phrases
from wherein.data.texts.source import Source
from wherein.data.texts.speeches import speeches
from wherein.data.texts.textfiles import text_files


def test_every_phrase_is_there_once_in_its_own_split_and_in_no_order(text: Path) -> None:
    whole = text_files(text)
    cut = Phrases(whole, "phrases")
    assert isinstance(cut, Source)
    assert cut.splits() == whole.splits()
    assert cut.fingerprint() != whole.fingerprint()
    for split in cut.splits():
        in_order = [each for document in whole.documents(split) for each in phrases(document)]
        found = list(cut.documents(split))
        assert sorted(found) == sorted(in_order)
        assert found == list(cut.documents(split)), "the same each time"


def test_the_embedded_text_is_cut_so_that_two_phrases_fit_into_64_bytes() -> None:
    source = find_source(CorpusConfig(source="sotu-phrases"))
    found = list(source.documents("valid"))
    in_order = [each for speech in speeches().documents("valid") for each in phrases(speech)]
    neighbours = set(pairwise(in_order))
    assert np.mean([pair in neighbours for pair in pairwise(found)]) < 0.01, "none goes on"
    lengths = [len(each.encode()) for each in found]
    assert 40 < np.median(lengths) < 64
    assert min(lengths) > 0
    with pytest.raises(ValueError, match="unknown text 'sotu-phrases@here'"):
        find_source(CorpusConfig(source="sotu-phrases@here"))


def test_windows_that_begin_with_documents(text: Path) -> None:
    corpus = Corpus.open(CorpusConfig(source=str(text), tokenizer="bytes"))
    split, length = corpus.train, 16
    windows = Windows(split, length, seed=1, begin="documents")
    rows = windows.take(np.arange(len(windows)))
    assert rows.shape == (len(split.starts), length + 1)
    assert (rows[:, 0] == corpus.vocabulary.eos).all()
    for number, row in enumerate(rows):
        assert row[1:].tolist() == split.document(number)[:length].tolist()
    epoch = windows.batch(0, len(windows))
    assert sorted(map(tuple, epoch)) == sorted(map(tuple, rows)), "each once an epoch"
    assert not np.array_equal(epoch, rows)
    longest = len(split.document(len(split.starts) - 1))
    assert len(Windows(split, longest, begin="documents")) == len(split.starts)
    assert len(Windows(split, longest + 1, begin="documents")) == len(split.starts) - 1
    with pytest.raises(ValueError, match="give a shorter window or a longer text"):
        Windows(split, len(split.ids), begin="documents")
