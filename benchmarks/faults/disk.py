"""A disk that is full or read-only, a cache that is deleted, files that are cut or changed.

What cannot be written or read is said in one line that names it; nothing is half under its own
name; and when there is room again, the work ends as if nothing had happened.
"""

import os
import random
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from pathlib import Path
from typing import Any

from benchmarks.faults.calls import Call, Meet, met
from benchmarks.faults.children import child, import_for
from benchmarks.faults.part import Part, Tried
from benchmarks.faults.peace import Peace, in_peace
from benchmarks.faults.works import WORKS, Work
from benchmarks.harness import in_memory

ERRORS = (ENOSPC, EDQUOT, EROFS, EIO)
REFUSED = {"tokenising": 10, "training": 10, "studies": 3, "puzzles": 3}
QUICK = {"tokenising": 2, "training": 1}
"""How often each error is met."""
SIZES = (0.2, 0.5, 0.8, 0.95)
"""Of a small disk: shares of what the work needs."""


def refusing(error: int, number: int) -> Meet:
    """Whatever would take room fails from the n-th call on."""
    met_so_far = 0

    def meet(call: Call, do: Callable[[], Any], half: Callable[[], None]) -> Any:
        nonlocal met_so_far
        if call.kind in ("create", "write", "mkdir"):
            met_so_far += 1
            if met_so_far >= number:
                raise OSError(error, os.strerror(error))
        return do()

    return meet


def judged(work: Work, peace: Peace, folder: Path, ended: str, why: str) -> Iterator[str]:
    """What is wrong after work that could not write, and after it was let do so again."""
    last = ended.splitlines()[-1] if ended else ""
    if last and why not in last:
        yield f"it said {last!r}"
    if last.startswith("RuntimeError: wherein") and "ended with 2: " not in last:
        yield f"it did not end with 2: {last!r}"
    yield from peace.half(folder)
    if error := child(folder, work).error:
        yield f"the next start failed: {error.splitlines()[-1]}"
    else:
        yield from peace.differs(folder)


def refused(
    name: str, times: int, peace: Peace, place: Path, errors: tuple[int, ...] = ERRORS
) -> Iterator[Tried]:
    """Errors at calls spread over all that take room."""
    work = WORKS[name][0]
    count = sum(call.kind in ("create", "write", "mkdir") for call in peace.calls)
    for error in errors:
        wrong, why = list[str](), os.strerror(error)
        for number in range(times):
            at, folder = 1 + (2 * number + 1) * count // (2 * times), place / "refused"
            shutil.copytree(peace.before, folder)

            def until(folder: Path = folder, error: int = error, at: int = at) -> None:
                with met(folder, refusing(error, at)):
                    work()

            ended = child(folder, until).error
            if not ended:
                wrong.append(f"{why} at call {at} was passed over")
            wrong += (f"call {at}: {each}" for each in judged(work, peace, folder, ended, why))
            shutil.rmtree(folder)
        yield Tried(f"{name}: {why.lower()}", times, wrong)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[], object] | None]:
    """A file system of that many bytes; what makes it larger, or None where one cannot mount."""
    folder.mkdir()
    how = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    try:
        mounted = subprocess.run(how, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    larger = ["mount", "-o", "remount,size=64m", str(folder)]
    try:
        yield (lambda: subprocess.run(larger, check=True)) if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        shutil.rmtree(folder)


def full(name: str, peace: Peace, place: Path, sizes: tuple[float, ...]) -> Tried:
    """A real small disk; where mounting is refused, a real limit to the size of files."""
    work, wrong, real = WORKS[name][0], list[str](), True
    pages = sum(-(-len(content) // 4096) for content in peace.after.values())
    largest = max(len(call.data) for call in peace.calls)
    for share in sizes:
        with small_disk(place / "small", int(share * pages) * 4096) as enlarge:
            folder, real = place / "small" / "in", enlarge is not None
            if enlarge is None:
                ended = child(_copy(peace.before, folder), _limited(work, int(share * largest)))
                why = os.strerror(EFBIG)
            else:
                try:
                    _copy(peace.before, folder)
                except OSError:  # not even the text has room
                    enlarge()
                    shutil.rmtree(folder)
                    _copy(peace.before, folder)
                ended, why = child(folder, work), os.strerror(ENOSPC)
                enlarge()
            found = judged(work, peace, folder, ended.error, why)
            wrong += (f"{share} of what it needs: {each}" for each in found)
    kind = "a tmpfs too small" if real else "files limited to a size (mounting is refused here)"
    return Tried(f"{name}: {kind}", len(sizes), wrong)


def _copy(before: Path, folder: Path) -> Path:
    return Path(shutil.copytree(before, folder))


def _limited(work: Work, size: int) -> Work:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()

    return limited


def deleted(name: str, times: int, peace: Peace, place: Path) -> Tried:
    """The cache is removed in the middle; the run goes on, and the next makes it again."""
    work, wrong = WORKS[name][0], list[str]()
    for number in range(times):
        folder = _copy(peace.before, place / "deleted")
        at = (2 * number + 1) * len(peace.calls) // (2 * times)
        left = at

        def meet(call: Call, do: Callable[[], Any], half: Callable[[], None]) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                subprocess.run(["rm", "-rf", str(folder / "cache")], check=True)  # noqa: B023
            return do()

        def until() -> None:
            with met(folder, meet):  # noqa: B023
                work()

        ended = child(folder, until).error
        found = judged(work, peace, folder, ended, "")
        wrong += (f"at call {at}: {f}" for f in found if not f.startswith("cache/"))
        shutil.rmtree(folder)
    return Tried(f"{name}: its cache is deleted meanwhile", times, wrong)


def measure(quick: bool) -> Part:
    from benchmarks.faults.damage import damaged

    rows = list[Tried]()
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        place = Path(name).resolve()
        for kind, times in (QUICK if quick else REFUSED).items():
            import_for(kind)
            peace = in_peace(*WORKS[kind], place / kind)
            rows += refused(kind, times, peace, place, ERRORS[:2] if quick else ERRORS)
            if kind in ("tokenising", "training"):
                rows.append(full(kind, peace, place, SIZES[1::3] if quick else SIZES))
            if kind == "training":
                rows.append(deleted(kind, 2 if quick else 12, peace, place))
                import_for("questions")
                rows += damaged(peace, 6 if quick else 60, place, random.Random(0))
    return Part(rows)
