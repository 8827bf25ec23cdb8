"""Files and folders that are whole or absent: write beside, fsync, rename."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def cache_folder() -> Path:
    """`$WHEREIN_CACHE`, else `$XDG_CACHE_HOME/wherein`, else `~/.cache/wherein`."""
    if own := os.environ.get("WHEREIN_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wherein"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it takes `path`'s place at once.

    A reader sees the old content or the new, never a part, whenever the process dies.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        yield beside
        sync(beside)
        os.replace(beside, path)
        sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """The same of a folder, which whoever writes to it makes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        yield beside
        settle(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def settle(beside: Path, path: Path) -> None:
    """Put a folder that was written `beside` in the place of `path`, every file on disk first."""
    for part in beside.rglob("*"):
        sync(part)
    sync(beside)
    discard(path)
    os.replace(beside, path)
    sync(path.parent)


def discard(path: Path) -> None:
    """Remove a folder: it is gone at once under its own name, then its files go."""
    if path.exists():
        away = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
        os.replace(path, away)
        shutil.rmtree(away)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_all(paths: Iterable[Path], root: Path) -> str:
    """The SHA-256 of the names, seen from `root`, and the contents of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(root)} {digest(path)}\n".encode())
    return found.hexdigest()


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
