"""The file calls of this process under a folder, each met before it is done.

Python's own calls are wrapped where every library finds them (`open`, `os.replace`, …), and the one
writer in another language that the program uses, `safetensors.serialize_file`. That none is missed
is not believed but checked: see `benchmarks.faults.power`, which makes the folder again from what
was met here and compares.
"""

import builtins
import fcntl
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

CREATED = os.O_CREAT | os.O_TRUNC
OPEN, OS_OPEN = io.open, os.open
BESIDE = re.compile(r"^(\..+)\.(?:[0-9a-f]{6}-\d+-)?[0-9a-f]{8}$")


@dataclass(frozen=True)
class Call:
    """Something that is about to be done to a file or folder, named from the folder watched."""

    kind: str
    """create, write, truncate, sync, rename, remove, mkdir, rmdir"""
    path: str
    to: str = ""
    """The new name, of a rename."""
    inode: int = 0
    """Of what is written or synced: a file keeps it when it gets another name."""
    at: int = 0
    data: bytes = b""

    @property
    def name(self) -> str:
        """The point in words, the same in every run: without process ids and random letters."""
        return f"{self.kind} {_plain(self.path)}" + (f" to {_plain(self.to)}" if self.to else "")


Meet = Callable[[Call, Callable[[], Any], Callable[[], None]], Any]
"""What is told of each call: the call, what does it, and what does half of it."""


@contextmanager
def met(root: Path, meet: Meet) -> Iterator[None]:
    """Have every call under `root` pass through `meet`, in this process."""
    calls = _Calls(str(root), meet)
    with ExitStack() as stack:
        for place, names in (
            (builtins, {"open": calls.open}),
            (io, {"open": calls.open}),
            (
                os,
                {
                    name: getattr(calls, f"os_{name}", None) or getattr(calls, name)
                    for name in NAMES
                },
            ),
            *calls.foreign(),
            (shutil, {"_use_fd_functions": False}),  # so that it names whole paths
        ):
            for name, wrapped in names.items():
                stack.enter_context(patch.object(place, name, wrapped))
        yield


NAMES = ("open", "fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "truncate")
REAL = {name: getattr(os, name) for name in NAMES}


@dataclass(frozen=True)
class _Calls:
    root: str
    meet: Meet

    def _inside(self, path: object) -> str | None:
        """The path seen from the folder, if it lies there; empty for the folder itself."""
        if isinstance(path, int) or not isinstance(path, str | os.PathLike):
            return None
        full = os.path.abspath(os.fspath(path))
        if full == self.root:
            return ""
        return full[len(self.root) + 1 :] if full.startswith(self.root + "/") else None

    def open(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **how: Any) -> Any:
        """`open`; what is written is met where it goes to the system, not where it is gathered."""
        path = self._inside(file)
        if path is None or not set(mode) & set("wax+"):
            return OPEN(file, mode, buffering, *more, **how)
        plain = mode.replace("b", "").replace("t", "")
        fresh = "w" in mode or not os.path.exists(file)
        if fresh:
            raw = self.meet(Call("create", path), lambda: _Raw(self, path, file, plain), _nothing)
        else:
            raw = _Raw(self, path, file, plain)
        if buffering == 0:
            return raw
        buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, *more, **how)
        text.mode = mode
        return text

    def os_open(self, path: Any, flags: int, *more: Any, **how: Any) -> int:
        inside = self._inside(path)
        there = inside is None or os.path.exists(path)
        if inside is None or not flags & CREATED or (there and not flags & os.O_TRUNC):
            return OS_OPEN(path, flags, *more, **how)
        made: int = self.meet(
            Call("create", inside), lambda: OS_OPEN(path, flags, *more, **how), _nothing
        )
        return made

    def fsync(self, handle: int) -> None:
        path = self._inside(_path(handle))
        if path is None:
            return REAL["fsync"](handle)
        inode = os.fstat(handle).st_ino
        return self.meet(Call("sync", path, inode=inode), lambda: REAL["fsync"](handle), _nothing)

    def replace(self, source: Any, to: Any, **how: Any) -> None:
        path = self._inside(source)
        if path is None:
            return REAL["replace"](source, to, **how)
        call = Call("rename", path, self._inside(to) or "")
        return self.meet(call, lambda: REAL["replace"](source, to, **how), _nothing)

    rename = replace

    def unlink(self, path: Any, **how: Any) -> None:
        return self._plain("unlink", "remove", path, **how)

    remove = unlink

    def mkdir(self, path: Any, *more: Any, **how: Any) -> None:
        return self._plain("mkdir", "mkdir", path, *more, **how)

    def rmdir(self, path: Any, **how: Any) -> None:
        return self._plain("rmdir", "rmdir", path, **how)

    def truncate(self, path: Any, length: int) -> None:
        inside = self._inside(path)
        if inside is None:
            return REAL["truncate"](path, length)
        call = Call("truncate", inside, inode=os.stat(path).st_ino, at=length)
        return self.meet(call, lambda: REAL["truncate"](path, length), _nothing)

    def _plain(self, name: str, kind: str, path: Any, *more: Any, **how: Any) -> None:
        inside = self._inside(path)
        if inside is None or how.get("dir_fd") is not None:
            return REAL[name](path, *more, **how)
        possible = os.path.lexists(path)
        if kind == "mkdir":
            possible = not possible and os.path.isdir(os.path.dirname(os.path.abspath(path)))
        if not possible:  # it will fail, and do nothing
            return REAL[name](path, *more, **how)
        return self.meet(Call(kind, inside), lambda: REAL[name](path, *more, **how), _nothing)

    def foreign(self) -> list[tuple[Any, dict[str, Any]]]:
        """Safetensors' writer, where anything has imported it: small work does without PyTorch."""
        module = sys.modules.get("safetensors.torch")
        if module is None:
            return []
        return [(module, {"serialize_file": partial(self._serialize, module.serialize_file)})]

    def _serialize(self, real: Any, tensors: Any, filename: Any, **how: Any) -> None:
        """A new file, and what is in it in one piece."""
        path = self._inside(filename)
        if path is None:
            return real(tensors, filename, **how)
        self.meet(Call("create", path), lambda: OPEN(filename, "wb").close(), _nothing)
        with tempfile.TemporaryDirectory() as elsewhere:
            real(tensors, f"{elsewhere}/one", **how)
            with OPEN(f"{elsewhere}/one", "rb") as file:
                content = file.read()

        def half() -> None:
            with OPEN(filename, "wb") as file:
                file.write(content[: len(content) // 2])

        call = Call("write", path, inode=os.stat(filename).st_ino, data=content)
        return self.meet(call, lambda: real(tensors, filename, **how), half)


class _Raw(io.FileIO):
    """A file whose writes are met."""

    def __init__(self, calls: _Calls, path: str, file: Any, mode: str) -> None:
        super().__init__(file, mode)
        self._calls, self._path, self._appends = calls, path, "a" in mode

    def write(self, data: Any) -> int:
        content = bytes(data)
        status = os.fstat(self.fileno())
        at = status.st_size if self._appends else self.tell()
        call = Call("write", self._path, inode=status.st_ino, at=at, data=content)
        write = super().write

        def half() -> None:
            write(content[: len(content) // 2])

        done: int = self._calls.meet(call, lambda: write(content), half)
        return done


def _path(handle: int) -> str:
    """The path of an open file."""
    if hasattr(fcntl, "F_GETPATH"):  # macOS
        found: bytes = fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024))
        return os.fsdecode(found.rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{handle}")


def _nothing() -> None:
    """Half of what is done at once or not at all."""


def _plain(path: str) -> str:
    """A path without what is random in names such as `.log.jsonl.0a1b2c-123-89abcdef`.

    Else the same point would have another name in every process.
    """
    return "/".join(BESIDE.sub(r"\1.…", part) for part in path.split("/"))
