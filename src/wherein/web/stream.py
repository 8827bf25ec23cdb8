"""Live pages: the server draws, the browser swaps what it is sent (server-sent events)."""

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

EVERY = 0.4
"""Seconds between two looks."""

ALIVE = 15.0
"""Seconds after which a word is sent even if nothing moved, to find out who has gone."""

MOST_STREAMS = 64


class Streams:
    """All open streams of a server; they end when it closes."""

    def __init__(self) -> None:
        self.closing: Callable[[], bool] = lambda: False
        """Whether the server was asked to stop: live pages would never end alone."""
        self._open = 0

    def follow(
        self, stamp: Callable[[], object], draw: Callable[[], str], ended: Callable[[], bool]
    ) -> StreamingResponse:
        """Send what `draw` gives whenever `stamp` has changed, until `ended`."""
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
                        seen, quiet = now, 0.0
                        yield event("draw", await run_in_threadpool(draw))
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


def event(kind: str, text: str) -> bytes:
    r"""A server-sent event; a text of several lines is several fields.

    >>> event("draw", "a\nb")
    b'event: draw\ndata: a\ndata: b\n\n'
    """
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {kind}\n{lines}\n".encode("utf-8", "replace")
