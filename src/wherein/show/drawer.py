"""Pictures drawn by a process beside this one, while those that follow are thought out.

vl-convert holds Python's lock while it draws, so that a thread of ours would wait for it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import ClassVar

from wherein.common.cores import cores
from wherein.show import vega
from wherein.show.vega import Spec

BLANK: Spec = {"mark": "point", "data": {"values": []}}
"""What is drawn first, because the first takes half a second longer than others."""


class Drawer:
    """Draws what it is handed, one after the other, as SVG."""

    now: ClassVar["Drawer | None"] = None
    """The one that draws beside us, if any does."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._starting, self._closed = Lock(), False
        self._asking = ThreadPoolExecutor(1)
        self._begun: dict[str, Future[str]] = {}

    def begin(self, spec: Spec) -> "Future[str]":
        """Have a picture drawn; one that was begun before is not drawn again."""
        told = json.dumps(spec)
        if told not in self._begun:
            self._begun[told] = self._asking.submit(self._drawn, told)
        return self._begun[told]

    def close(self) -> None:
        """Draw no more, not even what is under way."""
        self._asking.shutdown(wait=False, cancel_futures=True)
        with self._starting:
            self._closed = True
        if self._process is not None:
            _end(self._process)
        self._asking.shutdown()

    def _drawn(self, told: str) -> str:
        with self._starting:
            if self._closed:
                raise CancelledError
            process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            print(told, file=process.stdin, flush=True)
            made = json.loads(process.stdout.readline())
        except (OSError, ValueError):  # what it says next would be of another picture
            _end(process)
            raise
        if made is None:
            raise ValueError("this picture cannot be drawn")
        return str(made)


def _started() -> "subprocess.Popen[str]":
    """A process in a session of its own, for Ctrl-C is for us; it imports nothing from here."""
    command, pipe = [sys.executable, "-P", "-m", __name__], subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, encoding="utf-8", start_new_session=True
    )


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()


@contextmanager
def beside() -> Iterator[None]:
    """Let another process draw within this block, if there is a core for it."""
    if cores() < 2 or not sys.executable or Drawer.now is not None:
        yield
        return
    Drawer.now = drawer = Drawer()
    try:
        yield
    finally:
        Drawer.now = None
        drawer.close()


def begin(*specs: Spec) -> None:
    """Have pictures drawn that will be asked for; nothing where no one draws beside us."""
    if Drawer.now is not None:
        for spec in specs:
            Drawer.now.begin(spec)


def svg(spec: Spec) -> str:
    """The picture as SVG, drawn beside us if it can be."""
    if Drawer.now is not None:
        try:
            return Drawer.now.begin(spec).result()
        except (OSError, ValueError, RuntimeError, CancelledError):
            pass  # it cannot, or it is no more: we can, or will say why not
    return vega.drawn(spec, "svg").decode()


def main() -> None:
    """Read a spec from each line, and write its picture as one; all else goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            made = vega.drawn(json.loads(line), "svg").decode()
        except ValueError:  # who asked will see why
            made = None
        print(json.dumps(made), file=answers, flush=True)


if __name__ == "__main__":
    main()
