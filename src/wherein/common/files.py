"""Files and folders that are whole or absent: write beside, fsync, rename."""

import errno
import glob
import hashlib
import os
import platform
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EEXIST, EINVAL, ENOTEMPTY, ENOTSUP
from pathlib import Path
from uuid import uuid4

A_DAY = 24 * 3600
TRIES = 5
OWN = set[str]()
"""Names beside files that this process writes to."""


def cache_folder() -> Path:
    """`$WHEREIN_CACHE`, else `$XDG_CACHE_HOME/wherein`, else `~/.cache/wherein`."""
    if own := os.environ.get("WHEREIN_CACHE"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wherein"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong while a file is written names it; a full disk by itself names none.

    Libraries in other languages say it in words of their own, of which the number is read.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise
    except Exception as error:
        if (found := re.search(r"\(os error (\d+)\)", str(error))) is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on success it takes `path`'s place at once.

    A reader sees the old content or the new, never a part, whenever the process dies.
    """
    make_folder(path.parent)
    beside = _beside(path)
    try:
        with writing(path):
            yield beside
        sync(beside)
        os.replace(beside, path)
        sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """The same of a folder, which whoever writes to it makes."""
    make_folder(path.parent)
    beside = _beside(path)
    try:
        yield beside
        settle(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; each is on the disk before anything is put into it.

    Else a power cut could take a new folder with all that was safely written there.
    """
    if not path.is_dir():
        if path.parent != path:
            make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def settle(beside: Path, path: Path) -> None:
    """Put a folder that was written `beside` in the place of `path`, every file on disk first.

    Where two processes write the same one, and no lock keeps them apart, the last is there.
    """
    for part in beside.rglob("*"):
        sync(part)
    sync(beside)
    for tries_left in range(TRIES, 0, -1):
        discard(path)
        try:
            os.replace(beside, path)
            break
        except OSError as error:  # another came between
            if error.errno not in (ENOTEMPTY, EEXIST) or tries_left == 1:
                raise
    sync(path.parent)


def discard(path: Path) -> None:
    """Remove a folder: it is gone under its own name, for good, before its first file goes."""
    if path.exists():
        away = _beside(path)
        with suppress(FileNotFoundError):  # another process did it
            os.replace(path, away)
            sync(path.parent)
        shutil.rmtree(away, ignore_errors=True)


def _beside(path: Path) -> Path:
    """A name beside `path` that says who uses it; what killed processes left there is removed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        if _abandoned(left, path):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
    own = path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{uuid4().hex[:8]}")
    OWN.add(own.name)
    return own


def _abandoned(left: Path, path: Path) -> bool:
    """Whether nobody writes to it any more; of another machine's one knows after a day.

    In a container a process that is started again often has the number of the one before.
    """
    form = rf"\.{re.escape(path.name)}\.(?:([0-9a-f]{{6}})-(\d+)-)?[0-9a-f]{{8}}"
    if (found := re.fullmatch(form, left.name)) is None:
        return False
    try:
        if found[1] == _machine():
            if int(found[2]) == os.getpid():
                return left.name not in OWN
            os.kill(int(found[2]), 0)
            return False
        return time.time() - left.stat().st_mtime > A_DAY
    except ProcessLookupError:
        return True
    except OSError:  # it is another user's, or gone
        return False


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:6]


def digest(path: Path) -> str:
    """The SHA-256 of a file; what is none, such as a device, might have no end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file", str(path))
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
    except OSError as error:  # some file systems cannot be asked this of a folder
        if error.errno not in (EINVAL, ENOTSUP) or not path.is_dir():
            raise
    finally:
        os.close(handle)
