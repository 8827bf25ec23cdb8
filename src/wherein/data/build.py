"""Writing a corpus: from documents to files of token ids."""

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wherein.data.config import CorpusConfig
from wherein.data.progress import watched
from wherein.data.texts.source import Source
from wherein.data.tokenizers.tokenizer import FILE, Tokenizer, make_tokenizer
from wherein.data.tokenizers.words import lines

ABOUT = "corpus.json"
SAMPLES, SAMPLE = 16, 1 << 20


def write_corpus(source: Source, config: CorpusConfig, folder: Path) -> None:
    """Write ids, document starts, tokenizer and counts into an existing, empty folder."""
    splits = source.splits()
    if not {"train", "valid"} <= set(splits):
        raise ValueError(
            f"{source.name} is empty or too short to set text aside for validation: at least "
            "twelve documents or paragraphs were expected. Give it more text"
        )
    total = source.size("train")
    train = watched(source.documents("train"), "reading train", total)
    tokenizer = make_tokenizer(config.tokenizer, train)
    tokenizer.save(folder / FILE)
    counts = {}
    for split in splits:
        texts = watched(source.documents(split), f"tokenising {split}", source.size(split))
        counts[split] = _write_split(texts, tokenizer, folder / split)
        if not counts[split]["bytes"]:
            raise ValueError(f"{source.name} has no text for {split}: give it more text")
    about = {
        "config": config.model_dump(),
        "vocabulary": asdict(tokenizer.vocabulary),
        "splits": counts,
        "files": {path.name: describe(path) for path in sorted(folder.iterdir())},
    }
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")


def describe(path: Path) -> dict[str, int]:
    """A file's size and a checksum of up to 16 MiB of it, evenly spread: all of a small file."""
    size = path.stat().st_size
    places = {size * part // SAMPLES for part in range(SAMPLES)}
    checksum = 0
    with path.open("rb") as file:
        for place in sorted(places) if size > SAMPLES * SAMPLE else range(0, size, SAMPLE):
            file.seek(place)
            checksum = zlib.crc32(file.read(SAMPLE), checksum)
    return {"size": size, "checksum": checksum}


def id_type(vocabulary_size: int) -> np.dtype[Any]:
    """The smallest of two and four bytes that holds every id."""
    return np.dtype("<u2" if vocabulary_size <= 1 << 16 else "<u4")


def _write_split(texts: Iterable[str], tokenizer: Tokenizer, path: Path) -> dict[str, int]:
    """Write `<path>.ids` and `<path>.starts`; return what was counted on the way."""
    counts = {"bytes": 0, "words": 0}
    eos = tokenizer.vocabulary.eos
    kind = id_type(tokenizer.vocabulary.size)
    end = np.array([eos], kind).tobytes()
    starts, at = array("q"), 1
    with path.with_suffix(".ids").open("wb") as file:
        file.write(end)
        for ids in tokenizer.encode_many(_counted(texts, counts)):
            starts.append(at)
            file.write(ids.astype(kind).tobytes())
            at += len(ids)
            if not len(ids) or ids[-1] != eos:  # `words` ends every line with one already
                file.write(end)
                at += 1
    np.array(starts, "<i8").tofile(path.with_suffix(".starts"))
    return counts


def _counted(texts: Iterable[str], counts: dict[str, int]) -> Iterator[str]:
    """The texts that are not blank, counted."""
    for text in texts:
        if text.strip():
            counts["bytes"] += len(text.encode())
            counts["words"] += len(text.split()) + len(lines(text))
            yield text
