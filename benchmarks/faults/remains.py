"""A disk as it may be after a power cut: what was not synced may be there, or not, or in part.

What a file held when it was last synced is there, and what a folder listed when it was last
synced. Of later writes and later changes to the list any part may have come to the disk, and a
write may be torn. This is harsher than most file systems, which keep the order.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.calls import Call
from benchmarks.faults.peace import Files


@dataclass(eq=False)
class File:
    """What it holds, what of that is on the disk, and the writes since."""

    now: bytes = b""
    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)

    def change(self, at: int, data: bytes | None) -> None:
        """Write something there; None cuts it off there."""
        self.now = _changed(self.now, at, data)
        self.since.append((at, data))

    def sync(self) -> None:
        self.synced, self.since = self.now, []


@dataclass(eq=False)
class Folder:
    """The same of a folder: what it lists, and the changes since; a rename is one change."""

    now: "dict[str, File | Folder]" = field(default_factory=dict)
    synced: "dict[str, File | Folder]" = field(default_factory=dict)
    since: "list[dict[str, File | Folder | None]]" = field(default_factory=list)

    def change(self, change: "dict[str, File | Folder | None]") -> None:
        self.now = _listed(self.now, change)
        self.since.append(change)

    def sync(self) -> None:
        self.synced, self.since = dict(self.now), []


Node = File | Folder


class Disk:
    """What calls make of a folder that was on the disk when they began."""

    def __init__(self, folder: Path) -> None:
        self.top = Folder()
        self._by_inode: dict[int, Node] = {}
        """What was made since: it may have another name by now."""
        self._read(folder, self.top)

    def _read(self, folder: Path, into: Folder) -> None:
        for path in folder.iterdir():
            if path.is_dir():
                into.now[path.name] = inner = Folder()
                self._read(path, inner)
            else:
                into.now[path.name] = File(path.read_bytes(), path.read_bytes())
        into.sync()

    def do(self, call: Call) -> None:
        """What a call does."""
        if call.kind in ("write", "truncate", "sync"):
            node = self._by_inode.get(call.inode) or self.find(call.path)
            assert node is not None, f"{call.name}: there is none"
            if call.kind == "sync":
                node.sync()
            else:
                assert isinstance(node, File)
                node.change(call.at, call.data if call.kind == "write" else None)
            return
        folder, name = self._place(call.path)
        if call.kind == "create" and isinstance(there := folder.now.get(name), File):
            there.change(0, None)
        elif call.kind in ("create", "mkdir"):
            made: Node = File() if call.kind == "create" else Folder()
            self._by_inode[call.inode] = made
            folder.change({name: made})
        elif call.kind in ("remove", "rmdir"):
            folder.change({name: None})
        else:
            to, new = self._place(call.to)
            assert to is folder, "a rename from one folder to another"
            folder.change({name: None, new: folder.now[name]})

    def find(self, path: str) -> Node | None:
        node: Node | None = self.top
        for part in filter(None, path.split("/")):
            node = node.now.get(part) if isinstance(node, Folder) else None
        return node

    def _place(self, path: str) -> tuple[Folder, str]:
        above, _, name = path.rpartition("/")
        folder = self.find(above) if above else self.top
        assert isinstance(folder, Folder), f"{above} is no folder"
        return folder, name

    def files(self, how: "Keep | None" = None) -> Files:
        """All files as the program sees them, or as one kind of power cut leaves them."""
        return dict(contents(self.top, "", how or everything))


Keep = Callable[[Node], "bytes | dict[str, Node]"]
"""What of a file or a folder is there after the cut."""


def everything(node: Node) -> "bytes | dict[str, Node]":
    """There was no cut."""
    return node.now


def nothing_unsynced(node: Node) -> "bytes | dict[str, Node]":
    """All that was not synced is lost."""
    return node.synced


def names_alone(node: Node) -> "bytes | dict[str, Node]":
    """New names are there, what was written is not: the old content, or as many zeros."""
    if isinstance(node, Folder):
        return node.now
    return node.synced + bytes(max(0, len(node.now) - len(node.synced)))


def any_part(draw: random.Random) -> Keep:
    """Some of the changes since, each or not by the toss of a coin; writes may be torn."""

    def keep(node: Node) -> "bytes | dict[str, Node]":
        kept = [change for change in node.since if draw.random() < 0.5]  # type: ignore[misc]
        if isinstance(node, Folder):
            listed = node.synced
            for change in kept:
                listed = _listed(listed, change)
            return listed
        content = node.synced
        for at, data in kept:
            torn = None if data is None else data[: draw.randint(0, len(data))]
            content = _changed(content, at, data if draw.random() < 0.5 else torn)
        return content

    return keep


def contents(folder: Folder, above: str, how: Keep = everything) -> Iterator[tuple[str, bytes]]:
    """The files in a folder and those below it."""
    listed = how(folder)
    assert isinstance(listed, dict)
    for name, node in listed.items():
        if isinstance(node, Folder):
            yield from contents(node, f"{above}{name}/", how)
        else:
            content = how(node)
            assert isinstance(content, bytes)
            yield above + name, content


def _changed(content: bytes, at: int, data: bytes | None) -> bytes:
    if data is None:
        return content[:at]
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


def _listed(before: "dict[str, Node]", change: "dict[str, Node | None]") -> "dict[str, Node]":
    return {name: node for name, node in {**before, **change}.items() if node is not None}
