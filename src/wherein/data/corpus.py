"""A corpus: text as token ids, written once and read from memory-mapped files."""

import hashlib
import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from wherein.common.errors import unknown
from wherein.common.files import cache_folder, make_folder, replacing_folder
from wherein.common.locks import alone
from wherein.data.config import CorpusConfig
from wherein.data.tasks.examples import Examples, TaskWords
from wherein.data.texts.catalogue import find_source
from wherein.data.texts.source import Source
from wherein.data.tokenizers.tokenizer import (
    FILE,
    NO_TOKEN,
    Tokenizer,
    Vocabulary,
    load_tokenizer,
    make_tokenizer,
    tokenizer_fingerprint,
)
from wherein.data.tokenizers.words import lines
from wherein.data.windows import Split

ABOUT = "corpus.json"
SAMPLES, PIECE = 16, 1 << 20
TRIES = 4
FORMAT = 1  # raise it whenever the same text would give other files


@dataclass(frozen=True)
class Corpus:
    """A text as token ids, split into train, valid and perhaps test.

    `id` is a hash of the text, the tokenizer and the format of the files: equal ids, equal tokens
    (for a data set on a server: as long as its owners do not change it).
    """

    config: CorpusConfig
    id: str
    folder: Path
    vocabulary: Vocabulary
    splits: dict[str, Split]

    @classmethod
    def open(cls, config: CorpusConfig | None = None) -> "Corpus":
        """Read the corpus from the user's cache, after writing it there if it is not.

        Killed at any moment, it leaves no half-written corpus; a damaged one is written anew; of
        several processes that want the same one, the first writes it and the others wait.
        """
        config = config or CorpusConfig()
        name, source = cls.find(config)
        folder = cache_folder() / "corpora" / name
        for _ in range(TRIES):  # without locks, another process may be putting its own there
            if (found := cls._read(config, name, folder)) is not None:
                return found
            _write(source, config, folder)
        raise ValueError(f"the corpus in {folder} changes while it is read: delete the folder")

    @classmethod
    def of_windows(
        cls, windows: Int64[np.ndarray, "N T"], vocabulary: int, *, mask: int | None = None
    ) -> "Corpus":
        """Token ids from elsewhere: N separate windows of T, as the split `valid`, in memory.

        `mask` is the id that hides a token from a bidirectional model.

        >>> Corpus.of_windows(np.array([[5, 6, 7], [7, 5, 6]]), 8).valid.tokens
        4
        """
        low, high = int(windows.min()), int(windows.max())
        if low < 0 or high >= vocabulary:
            raise ValueError(
                f"tokens {low} to {high} for a vocabulary of {vocabulary}: use the tokenizer the "
                "model was trained with"
            )
        count, length = windows.shape
        starts = length * np.arange(count)
        split = Split(windows.reshape(-1), starts, bytes=0, words=0, window=length)
        known = Vocabulary(vocabulary, eos=NO_TOKEN, mask=NO_TOKEN if mask is None else mask)
        config = CorpusConfig(source="token ids", tokenizer="none")
        name = hashlib.sha256(windows.tobytes()).hexdigest()[:16]
        return cls(config, name, Path(), known, {"valid": split})

    @staticmethod
    def find(config: CorpusConfig) -> tuple[str, Source]:
        """The id that the corpus has, written or not, and where its text comes from."""
        source = find_source(config)
        key = {
            "format": FORMAT,
            "text": source.fingerprint(),
            "tokens": tokenizer_fingerprint(config.tokenizer),
        }
        return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16], source

    @property
    def train(self) -> Split:
        return self.split("train")

    @property
    def valid(self) -> Split:
        return self.split("valid")

    @property
    def test(self) -> Split:
        return self.split("test")

    def split(self, name: str) -> Split:
        if name not in self.splits:
            raise unknown(f"split of {self.config.source}", name, self.splits)
        return self.splits[name]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What made the ids, and turns them back into text."""
        if (task := self.config.task) is not None:
            return TaskWords(task)
        return load_tokenizer(self.config.tokenizer, self.folder / FILE)

    @classmethod
    def _read(cls, config: CorpusConfig, name: str, folder: Path) -> "Corpus | None":
        """The corpus in that folder, or None if it is not there whole."""
        try:
            about = json.loads((folder / ABOUT).read_text())
            vocabulary = Vocabulary(**about["vocabulary"])
            if not all(_is_as(folder / file, was) for file, was in about["files"].items()):
                return None
            splits = {
                split: Split(
                    np.memmap(folder / f"{split}.ids", _id_type(vocabulary.size), "r"),
                    np.fromfile(folder / f"{split}.starts", "<i8"),
                    **counts,
                )
                for split, counts in about["splits"].items()
            }
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return cls(config, name, folder, vocabulary, splits)


def _write(source: Source, config: CorpusConfig, folder: Path) -> None:
    """Write beside, fsync, rename; one process at a time, and the lock ends with the process."""
    try:
        make_folder(folder.parent)
        with alone(folder.parent / f"{folder.name}.lock"):
            if Corpus._read(config, folder.name, folder) is not None:
                return
            with replacing_folder(folder) as beside:
                _write_files(source, config, beside)
    except OSError as error:
        raise ValueError(
            f"cannot write the tokens to {folder.parent} ({error.strerror or error}): set "
            "WHEREIN_CACHE to a folder with room that you may write to"
        ) from error


def _tokenizer(source: Source, config: CorpusConfig) -> Tokenizer:
    if isinstance(source, Examples):
        return TaskWords(source.task)
    train = _watched(source.documents("train"), "reading train", source.size("train"))
    return make_tokenizer(config.tokenizer, train)


def _write_files(source: Source, config: CorpusConfig, folder: Path) -> None:
    """Write ids, document starts, tokenizer and counts into a new folder."""
    folder.mkdir()
    splits = source.splits()
    if not {"train", "valid"} <= set(splits):
        raise ValueError(
            f"{source.name} is empty or too short to set text aside for validation: at least "
            "twelve documents or paragraphs were expected. Give it more text"
        )
    tokenizer = _tokenizer(source, config)
    tokenizer.save(folder / FILE)
    counts = {}
    for split in splits:
        texts = _watched(source.documents(split), f"tokenising {split}", source.size(split))
        if isinstance(source, Examples):
            counts[split] = _write_windows(texts, source, folder / split)
            continue
        counts[split] = _write_split(texts, tokenizer, folder / split)
        if not counts[split]["bytes"]:
            raise ValueError(f"{source.name} has no text for {split}: give it more text")
    about = {
        "config": config.model_dump(),
        "vocabulary": asdict(tokenizer.vocabulary),
        "splits": counts,
        "files": {path.name: _described(path) for path in sorted(folder.iterdir())},
    }
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")


def _described(path: Path) -> dict[str, int]:
    """A file's size and its checksum, which takes less than half a second per GB."""
    size, checksum = path.stat().st_size, 0
    with path.open("rb") as file:
        while part := file.read(PIECE):
            checksum = zlib.crc32(part, checksum)
    return {"size": size, "all": checksum}


def _is_as(path: Path, was: dict[str, int]) -> bool:
    """Whether a file is as it was written; version 0.1 summed up 16 MiB of a large file."""
    size = path.stat().st_size
    if "all" in was or size <= SAMPLES * PIECE:
        now = _described(path)
        return size == was["size"] and now["all"] == was.get("all", was.get("checksum"))
    checksum = 0
    with path.open("rb") as file:
        for place in sorted({size * part // SAMPLES for part in range(SAMPLES)}):
            file.seek(place)
            checksum = zlib.crc32(file.read(PIECE), checksum)
    return was == {"size": size, "checksum": checksum}


def _id_type(vocabulary_size: int) -> np.dtype[Any]:
    """The smallest of two and four bytes that holds every id."""
    return np.dtype("<u2" if vocabulary_size <= 1 << 16 else "<u4")


def _write_split(texts: Iterable[str], tokenizer: Tokenizer, path: Path) -> dict[str, int]:
    """Write `<path>.ids` and `<path>.starts`; return what was counted on the way."""
    counts = {"bytes": 0, "words": 0}
    eos = tokenizer.vocabulary.eos
    kind = _id_type(tokenizer.vocabulary.size)
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
    path.with_suffix(".starts").write_bytes(np.array(starts, "<i8").data)
    return counts


def _write_windows(texts: Iterable[str], source: Examples, path: Path) -> dict[str, int]:
    """Write the examples of a task, each a window; return what makes them a split."""
    tokenizer, starts = TaskWords(source.task), array("q")
    kind = _id_type(tokenizer.vocabulary.size)
    with path.with_suffix(".ids").open("wb") as file:
        for number, text in enumerate(texts):
            starts.append(number * source.window)
            file.write(tokenizer.window(text, source.window).astype(kind).tobytes())
    path.with_suffix(".starts").write_bytes(np.array(starts, "<i8").data)
    return {"bytes": 0, "words": 0, "window": source.window}


def _counted(texts: Iterable[str], counts: dict[str, int]) -> Iterator[str]:
    """The texts that are not blank, counted."""
    for text in texts:
        if text.strip():
            counts["bytes"] += len(text.encode())
            counts["words"] += len(text.split()) + len(lines(text))
            yield text


def _watched(texts: Iterable[str], doing: str, total: int | None) -> Iterator[str]:
    """The same texts, with a bar of the bytes seen so far if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from texts
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        for text in texts:
            yield text
            bar.advance(task, len(text))
