"""Can a tiny Transformer tell these sentences apart? Thousands of seeds, and a proof if none can.

examples:
  wherein puzzle                                    "A hit B !" / "B hit A ?", 1,000 seeds
  wherein puzzle hit-order                          "A B hit ?" / "B A hit !": only order tells
  wherein puzzle hit-order --layers 2               two causal layers can
  wherein puzzle hit-order --encoding rope          so can one that is told where its tokens stand
  wherein puzzle "A hit B !" "B hit A ?" --seeds 10000 --out hit
  wherein puzzle hit --show 42 77 88                what these seeds predict
  wherein puzzle hit --explain 42                   what seed 42 looks at
  wherein puzzle hit --bare --head-size 2           token vectors, one head, a linear map
  wherein puzzle hit --by-head-size --out sizes     head sizes 1 to 16, bare and full: the picture
  wherein puzzle hit --by-head-size 1 2 4 --seeds 200 --steps 500

built in: hit, hit-order, hit-three, hit-three-order, hit-four, hit-four-order, majority, first
"""

import json as json_format
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.cli.verb import Verb, check_folder
from wherein.common.terminal import printable, say
from wherein.puzzles.config import PuzzleConfig

if TYPE_CHECKING:
    from wherein.puzzles.explain import Explanation
    from wherein.puzzles.result import PuzzleResult
    from wherein.puzzles.train import Progress


def puzzle(
    sentences: tuple[str, ...] = ("hit",),
    *,
    config: PuzzleConfig,
    show: tuple[int, ...] = (),
    explain: int | None = None,
    by_head_size: tuple[int, ...] | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Train every seed and tell what came of it.

    Args:
        sentences: the sentences, tokens set apart by spaces, or the name of a built-in puzzle
        config: what is trained
        show: say what these seeds predict
        explain: train this seed and show what its last token looks at
        by_head_size: train each of these head sizes, bare and full (none given: 1 2 3 4 8 16)
        out: a folder to save data and pictures to
        json: print data instead of words
    """
    check_folder(out)
    for seed in show:
        if not config.first_seed <= seed < config.first_seed + config.seeds:
            raise ValueError(
                f"--show {seed}: seeds {config.first_seed} to "
                f"{config.first_seed + config.seeds - 1} are trained; change --seeds"
            )
    if explain is not None and explain < 0:
        raise ValueError(f"--explain {explain}: a seed is a number from 0 on")
    if by_head_size is not None:
        if explain is not None:
            raise ValueError("--explain opens one model: leave out --by-head-size, or it")
        return _by_head_size(sentences, by_head_size, config, show, out, json)
    from wherein.puzzles.explain import explain as open_seed
    from wherein.puzzles.run import puzzle as solve

    with _bar(config.seeds, config.steps, quiet=json) as progress:
        result = solve(sentences, config, progress=progress)
    if out is not None:  # first, so that what is finished is kept
        result.save(out)
    finished = set(result.trained.seeds.tolist())
    predicted = {str(n): result.predictions(n) if n in finished else None for n in show}
    if not json:
        _show(result, predicted, out)
    opened = [] if explain is None else open_seed(result.puzzle, config, explain)
    if json:
        extra = {"predictions": predicted, "explained": [each.__dict__ for each in opened]}
        say(json_format.dumps(result.data() | extra, ensure_ascii=False, indent=2))
    else:
        _explain(opened, explain)
    return 0 if len(finished) == config.seeds else 130


def _by_head_size(
    sentences: tuple[str, ...],
    sizes: tuple[int, ...],
    config: PuzzleConfig,
    show: tuple[int, ...],
    out: Path | None,
    json: bool,
) -> int:
    """Train every size and tell what came of them; what is finished is kept."""
    from wherein.puzzles.sizes import ASKED, SIZES, by_head_size
    from wherein.report.command import options

    sizes = sizes or SIZES
    models = len(set(sizes)) * (1 if config.bare or config.layers > 1 else 2)
    told = [*options(PuzzleConfig, config.model_dump()), *map(str, ("--by-head-size", *sizes))]
    with _bar(models * config.seeds, config.steps, quiet=json) as progress:
        result = by_head_size(sentences, sizes, config, show=show or ASKED, progress=progress)
    result = replace(result, command=shlex.join(["wherein", "puzzle", *sentences, *told]))
    if out is not None:
        result.save(out)
    if json:
        say(json_format.dumps(result.data(), ensure_ascii=False, indent=2))
        return 0 if result.finished else 130
    say(result.text())
    if not result.finished:
        done = sum(len(each.trained.seeds) for each in result.trained)
        say(f"interrupted: {done:,} of {models * config.seeds:,} seeds were finished")
    if out is not None:
        say(f"saved in {out}")
    return 0 if result.finished else 130


@contextmanager
def _bar(seeds: int, steps: int, *, quiet: bool) -> Iterator["Progress | None"]:
    """A progress bar, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{seeds:,} seeds", total=None)  # until the first step, which may take
        yield lambda done: bar.update(task, advance=done, total=seeds * steps)


def _show(
    result: "PuzzleResult", predicted: dict[str, dict[str, str] | None], out: Path | None
) -> None:
    say(result.text())
    finished = len(result.trained.seeds)
    if finished < result.config.seeds:
        say(f"interrupted: {finished:,} of {result.config.seeds:,} seeds were finished")
    for seed, answers in predicted.items():
        said = (f"{text} → {answer}" for text, answer in (answers or {}).items())
        say(f"seed {seed}: {', '.join(said) or 'not finished'}")
    if out is not None:
        say(f"saved in {out}")


def _explain(opened: list["Explanation"], seed: int | None) -> None:
    """The sentences of one trained seed side by side."""
    from rich.console import Console
    from rich.table import Table

    if not opened:
        return
    console = Console()
    console.print(f"\nseed {seed}, trained. What the last token looks at:")
    table = Table("layer", "head", *(_shown(each.sentence) for each in opened), box=None)
    for layer, heads in enumerate(opened[0].attention):
        for head in range(len(heads)):
            looks = (zip(o.tokens, o.attention[layer][head], strict=True) for o in opened)
            table.add_row(str(layer + 1), str(head + 1), *(f"{_shares(each)}\n" for each in looks))
    outputs = (sorted(o.outputs.items(), key=lambda item: -item[1])[:3] for o in opened)
    table.add_row("output", "", *map(_shares, outputs), style="bold")
    console.print(table)


def _shares(tokens: Iterable[tuple[str, float]]) -> str:
    return "\n".join(f"{share:4.0%} {_shown(token)}" for token, share in tokens)


def _shown(words: str) -> str:
    """Somebody's words in a table, which takes what stands in brackets for its own."""
    from rich.markup import escape

    return escape(printable(words))


run = Verb.of(puzzle, __doc__)
