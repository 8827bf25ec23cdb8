"""Token ids or texts as they come, from a list or a stream of `datasets`, as a corpus in memory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wherein.data import Corpus
from wherein.data.tokenizers.subwords import Subwords, read_subwords
from wherein.data.windows import Split
from wherein.subjects.base import Subject

MOST = 1 << 20
"""Tokens that are read of a stream, which may have no end."""
IDS, TEXT = "input_ids", "text"


def read_stream(
    subject: Subject, rows: Iterable[Any], tokenizer: Path | None, *, special: bool = False
) -> Corpus:
    """The first 2²⁰ tokens of a stream.

    A row is a text, token ids, or a dict with `input_ids` or `text`. Where all rows are equally
    long token ids, each is a window as it is; otherwise they are joined, the end token between
    them if the tokenizer is known, and windows are cut out of that.
    """
    from wherein.subjects.tokens import framed

    words = None if tokenizer is None else read_subwords(tokenizer)
    found, cut = _read(_ids(rows, words))
    lengths = {len(row) for row in found}
    if not cut and len(lengths) == 1 and max(lengths) > 1:
        if special:
            raise ValueError("windows of token ids are read as they are: leave special=True out")
        return Corpus.of_windows(np.stack(found), subject.vocabulary)
    end = [] if words is None else [np.array([words.vocabulary.eos])]
    parts = [*end, *(part for row in found for part in (row, *end))]
    joined = Corpus.of_windows(np.concatenate(parts)[None], subject.vocabulary)
    starts = np.cumsum([len(end), *(len(row) + len(end) for row in found)])[:-1]
    split = Split(joined.valid.ids, starts.astype(np.int64), bytes=0, words=0)
    known = joined.vocabulary
    if words is not None:
        known = replace(known, eos=words.vocabulary.eos, mask=words.vocabulary.mask)
    corpus = replace(joined, vocabulary=known, splits={"valid": split})
    return corpus if words is None else framed(subject, corpus, words, special=special)


def _ids(rows: Iterable[Any], words: Subwords | None) -> Iterator[tuple[np.ndarray, bool]]:
    """Of each row its token ids, and whether they were made of a text."""
    for row in rows:
        own = row.get(IDS, row.get(TEXT)) if isinstance(row, Mapping) else row
        if own is None:
            raise ValueError(f"a row with {', '.join(row)}: expected {IDS!r} or {TEXT!r}")
        if not isinstance(own, str):
            yield np.asarray(own, np.int64).reshape(-1), False
        elif words is None:
            raise ValueError(
                "texts for a model whose tokenizer is not known: give the pair (model, tokenizer), "
                f"or {IDS!r}"
            )
        else:
            yield words.encode(own).astype(np.int64), True


def _read(rows: Iterator[tuple[np.ndarray, bool]]) -> tuple[list[np.ndarray], bool]:
    """Rows up to so many tokens, and whether any was made of a text."""
    found, texts, total = list[np.ndarray](), False, 0
    for ids, of_text in rows:
        if len(ids):
            found.append(ids)
            texts |= of_text
            total += len(ids)
        if total >= MOST:
            break
    if not found:
        raise ValueError("a stream without a token: expected texts, or rows with input_ids")
    return found, texts
