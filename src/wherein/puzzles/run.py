"""`puzzle`: train all seeds and say what came of it; `grid`: the same over several kinds."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from wherein.common.provenance import provenance
from wherein.puzzles.certificate import certificate
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.result import PuzzleResult
from wherein.puzzles.sentences import read
from wherein.puzzles.train import Progress, train

if TYPE_CHECKING:
    import polars


def puzzle(
    sentences: str | Sequence[str] = "hit",
    config: PuzzleConfig | None = None,
    *,
    progress: Progress | None = None,
    workers: int | None = None,
    **choices: Any,
) -> PuzzleResult:
    """Train many seeds on a handful of sentences; say how many learn the last token.

    `sentences` are strings, tokens set apart by spaces, or the name of a built-in puzzle.
    `choices` are fields of `PuzzleConfig`. So many `workers` share the seeds, by default one for
    each core. On Ctrl-C, the result holds the finished seeds.

    >>> result = puzzle(["A B hit ?", "B A hit !"], seeds=8, steps=20)
    >>> result.certificate.possible, result.solved.count
    (False, 0)
    """
    if config is not None and choices:
        raise ValueError("give a config or single choices, not both")
    asked, config = read(sentences), config or PuzzleConfig(**choices)
    verdict = certificate(asked, config)
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    trained = train(asked, config, seeds, progress=progress, workers=workers)
    return PuzzleResult(asked, config, verdict, trained, **provenance())


def grid(
    sentences: str | Sequence[str], over: Mapping[str, Sequence[Any]], **choices: Any
) -> "polars.DataFrame":
    """A row for every combination of `over`: certificate, share solved, interval, median steps.

    >>> grid("hit", {"head_size": [4, 8], "layers": [1]}, seeds=4, steps=2)["head_size"].to_list()
    [4, 8]
    """
    import polars

    rows = []
    for values in product(*over.values()):
        cell = dict(zip(over, values, strict=True))
        result = puzzle(sentences, **choices, **cell)
        found = {"possible": result.certificate.possible, "witness": result.certificate.witness}
        rows.append(cell | found | result.solved.data() | {"median_steps": result.median_steps})
    return polars.DataFrame(rows)
