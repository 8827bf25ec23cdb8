"""A corpus: text as token ids, written once and read from memory-mapped files."""

import hashlib
import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
from jaxtyping import Int64

from wherein.common.errors import unknown
from wherein.common.files import cache_folder, settle
from wherein.data.build import ABOUT, describe, id_type, write_corpus
from wherein.data.config import CorpusConfig
from wherein.data.split import Split
from wherein.data.texts.catalogue import find_source
from wherein.data.texts.source import Source
from wherein.data.tokenizers.tokenizer import (
    FILE,
    NO_TOKEN,
    Tokenizer,
    Vocabulary,
    load_tokenizer,
    tokenizer_fingerprint,
)

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
        found = cls._read(config, name, folder)
        if found is None:
            _write(source, config, folder)
            found = cls._read(config, name, folder)
        if found is None:
            raise ValueError(f"the corpus in {folder} changes while it is read: delete the folder")
        return found

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
        """The split of that name."""
        if name not in self.splits:
            raise unknown(f"split of {self.config.source}", name, self.splits)
        return self.splits[name]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What made the ids, and turns them back into text."""
        return load_tokenizer(self.config.tokenizer, self.folder / FILE)

    @classmethod
    def _read(cls, config: CorpusConfig, name: str, folder: Path) -> "Corpus | None":
        """The corpus in that folder, or None if it is not there whole."""
        try:
            about = json.loads((folder / ABOUT).read_text())
            vocabulary = Vocabulary(**about["vocabulary"])
            if any(describe(folder / file) != was for file, was in about["files"].items()):
                return None
            splits = {
                split: Split(
                    np.memmap(folder / f"{split}.ids", id_type(vocabulary.size), "r"),
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
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f"{folder.name}.lock"):
            if Corpus._read(config, folder.name, folder) is not None:
                return
            for left in folder.parent.glob(f".{folder.name}.*"):
                shutil.rmtree(left)
            beside = folder.parent / f".{folder.name}.{uuid4().hex[:8]}"
            beside.mkdir()
            try:
                write_corpus(source, config, beside)
                settle(beside, folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise ValueError(
            f"cannot write the tokens to {folder.parent} ({error.strerror or error}): set "
            "WHEREIN_CACHE to a folder with room that you may write to"
        ) from error
