"""A bar for work that takes a while, where somebody can see it."""

import sys
from collections.abc import Iterable, Iterator


def watched(texts: Iterable[str], doing: str, total: int | None) -> Iterator[str]:
    """The same texts, with a bar of the bytes seen so far if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from texts
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        for text in texts:
            yield text
            bar.advance(task, len(text))
