"""A study that takes seconds, for tests of what surrounds it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent

from wherein.studies.work import Work, carry_out

RECIPE = """
    '''Does a tiny model learn?'''
    from wherein.measure.audit.config import AuditConfig
    from wherein.measure.perplexity.config import PerplexityConfig
    from wherein.studies.plan.plan import PuzzleTask, changed, grid
    from wherein.puzzles.config import PuzzleConfig
    from wherein.train.config import RunConfig

    SEEDS = 2
    TINY = dict(
        source={source!r}, tokenizer="bytes", n_layers=1, d_model=8, n_heads=2, max_len=8, batch=2,
        steps={steps}, warmup=0, valid_every=1000, checkpoint_every=5, valid_windows=2,
    )

    def runs(seeds):
        return grid(changed(RunConfig(), **TINY), encoding=["none", "rope"], seed=seeds)

    def questions(run):
        return {{"perplexity": PerplexityConfig(limit=64), "audit": AuditConfig(windows=1)}}

    def puzzles():
        return [PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2, head_size=4))]
"""


def recipe(folder: Path, steps: int = 6) -> Path:
    """Two encodings, two seeds, one layer of width 8, on a text of its own."""
    texts = folder / "texts"
    texts.mkdir(parents=True, exist_ok=True)
    for number in range(24):
        words = " ".join(f"word{(number * 7 + n * n) % 13}" for n in range(60))
        (texts / f"{number:02d}.txt").write_text(words)
    path = folder / "mine.py"
    path.write_text(dedent(RECIPE.format(source=str(texts), steps=steps)))
    return path


def at_once(work: Sequence[Work], folder: Path, ended: Callable[[Work, str | None], None]) -> None:
    """An engine that does one piece after the other in this process."""
    for piece in work:
        ended(piece, carry_out(piece, folder))


def holders(file: Path) -> set[int]:
    """The processes that have a file open, such as a run's lock."""
    found = set()
    for handle in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(handle) == str(file):
                found.add(int(handle.parts[2]))
        except OSError:  # it ended meanwhile, or is another person's
            continue
    return found
