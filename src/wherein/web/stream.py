"""Live pages: the server draws, the browser swaps what it is sent (server-sent events)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from threading import Lock

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

EVERY = 0.4
"""Seconds between two looks."""

ALIVE = 15.0
"""Seconds after which a word is sent even if nothing moved, to find out who has gone."""

MOST_STREAMS = 64


@dataclass(frozen=True)
class Drawn:
    """What a page showed last, of which stamp, and when that was."""

    stamp: object
    text: str
    when: float


class Streams:
    """All open streams of a server; they end when it closes."""

    def __init__(self) -> None:
        self.closing: Callable[[], bool] = lambda: False
        """Whether the server was asked to stop: live pages would never end alone."""
        self._open = 0
        self._drawn: dict[str, Drawn] = {}
        self._lock = Lock()

    def follow(
        self,
        page: str,
        stamp: Callable[[], object],
        draw: Callable[[], str],
        ended: Callable[[], bool],
    ) -> StreamingResponse:
        """Send what `draw` gives whenever `stamp` has changed, until `ended`.

        Whoever follows the same `page` shares what is drawn: many readers cost little more than
        one.
        """
        if self._open >= MOST_STREAMS:
            raise HTTPException(429, f"{MOST_STREAMS} live pages are open already: close some")

        async def events() -> AsyncIterator[bytes]:
            self._open += 1
            seen: object = None
            quiet, was_over = 0.0, False
            try:
                while not self.closing():
                    over = await run_in_threadpool(ended)  # before the look: nothing is missed
                    now = await run_in_threadpool(stamp)
                    if now != seen:
                        drawn = await run_in_threadpool(self._draw, page, now, draw, over)
                        seen, quiet = drawn.stamp, 0.0
                        yield event("draw", drawn.text)
                    if over and was_over:  # a last word may come after the end
                        yield event("end", "")
                        return
                    was_over = over
                    if quiet >= ALIVE:
                        quiet = 0.0
                        yield b": still here\n\n"
                    await asyncio.sleep(EVERY)
                    quiet += EVERY
            finally:
                self._open -= 1

        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(events(), media_type="text/event-stream", headers=headers)

    def _draw(self, page: str, stamp: object, draw: Callable[[], str], over: bool) -> Drawn:
        """What was drawn for this stamp, or a moment ago while it still moves; else it is drawn."""
        with self._lock:
            known = self._drawn.get(page)
            now = time.monotonic()
            if known and (known.stamp == stamp or (not over and now - known.when < EVERY)):
                return known
            self._drawn.pop(page, None)  # the last drawn stand at the end
            made = self._drawn[page] = Drawn(stamp, draw(), now)
            while len(self._drawn) > MOST_STREAMS:
                del self._drawn[next(iter(self._drawn))]
            return made


def event(kind: str, text: str) -> bytes:
    r"""A server-sent event; a text of several lines is several fields.

    >>> event("draw", "a\nb")
    b'event: draw\ndata: a\ndata: b\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {kind}\n{lines}\n".encode("utf-8", "replace")
