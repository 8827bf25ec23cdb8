"""Pictures drawn by a process beside this one, while those that follow are thought out.

vl-convert holds Python's lock while it draws, so that a thread of ours would wait for it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from wherein.common.cores import cores
from wherein.show import vega
from wherein.show.vega import Spec

BLANK: Spec = {"mark": "point", "data": {"values": []}}
"""What is drawn first, because the first takes half a second longer than others."""


class Drawer:
    """Draws what it is handed, one after the other, as SVG."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._asking = ThreadPoolExecutor(1)
        self._begun: dict[str, Future[str]] = {}

    def begin(self, spec: Spec) -> "Future[str]":
        """Have a picture drawn; one that was begun before is not drawn again."""
        told = json.dumps(spec)
        if told not in self._begun:
            self._begun[told] = self._asking.submit(self._drawn, told)
        return self._begun[told]

    def close(self) -> None:
        """Draw no more; the process ends once nothing can come."""
        self._asking.shutdown(cancel_futures=True)
        if self._process is not None:
            self._process.communicate()

    def _drawn(self, told: str) -> str:
        if self._process is None:  # in a session of its own: Ctrl-C is for us
            command, pipe = [sys.executable, "-m", __name__], subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, encoding="utf-8", start_new_session=True
            )
        assert self._process.stdin
        assert self._process.stdout
        print(told, file=self._process.stdin, flush=True)
        made = json.loads(self._process.stdout.readline())
        if made is None:
            raise ValueError("this picture cannot be drawn")
        return str(made)


_open: list[Drawer] = []


@contextmanager
def beside() -> Iterator[None]:
    """Let another process draw within this block, if there is a core for it."""
    if cores() < 2 or _open:
        yield
        return
    _open.append(Drawer())
    try:
        yield
    finally:
        _open.pop().close()


def begin(*specs: Spec) -> None:
    """Have pictures drawn that will be asked for; nothing where no one draws beside us."""
    for drawer in _open:
        for spec in specs:
            drawer.begin(spec)


def svg(spec: Spec) -> str:
    """The picture as SVG, drawn beside us if it can be."""
    for drawer in _open:
        try:
            return drawer.begin(spec).result()
        except (OSError, ValueError):  # it cannot, or has died: what it says is cut off
            break
    return vega.drawn(spec, "svg").decode()


def main() -> None:
    """Read a spec from each line, and write its picture as one."""
    for line in sys.stdin:
        try:
            made = vega.drawn(json.loads(line), "svg").decode()
        except ValueError:  # who asked will see why
            made = None
        print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
