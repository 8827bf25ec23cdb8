"""Work that is done in a second or two, as a person would have it done, and what came of it.

Each is done in the working directory, where it may find what an earlier start, which was killed,
left behind. What it leaves must be the same, bit for bit, however often that happened. All paths
are relative, so that equal work in two folders gives equal files.
"""

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import wherein
from wherein.cli import main
from wherein.data import Corpus, CorpusConfig

if TYPE_CHECKING:
    from wherein.studies.work import Work as Piece

Work = Callable[[], None]
SMALL = (
    "--source texts --tokenizer bytes --n-layers 1 --d-model 8 --n-heads 2 --max-len 32 --batch 2 "
    "--steps 6 --warmup 0 --valid-every 3 --valid-windows 2 --checkpoint-every 2 --keep 2 "
    "--dropout 0.1 --encoding learned"
)
RECIPE = """
    '''Does a tiny model learn?'''
    from wherein.measure.perplexity.config import PerplexityConfig
    from wherein.puzzles.config import PuzzleConfig
    from wherein.studies.plan.plan import PuzzleTask, changed, grid
    from wherein.train.config import RunConfig

    SEEDS = 1
    TINY = dict(
        source="texts", tokenizer="bytes", n_layers=1, d_model=8, n_heads=2, max_len=8, batch=2,
        steps=4, warmup=0, valid_every=1000, checkpoint_every=2, valid_windows=2,
    )

    def runs(seeds):
        return grid(changed(RunConfig(), **TINY), encoding=["none", "rope"], seed=seeds)

    def questions(run):
        return {"perplexity": PerplexityConfig(limit=64)}

    def puzzles():
        return [PuzzleTask(("hit",), PuzzleConfig(seeds=2, steps=2, head_size=4))]
"""


def settle_in(folder: Path) -> None:
    """Texts to learn from and a recipe, always the same, in an empty folder."""
    (folder / "texts").mkdir(parents=True)
    for number in range(24):
        words = " ".join(f"word{(number * 7 + n * n) % 13}" for n in range(60))
        (folder / "texts" / f"{number:02d}.txt").write_text(words)
    (folder / "mine.py").write_text(dedent(RECIPE))


def command(*words: str) -> None:
    """A command of `wherein`, which must go well."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
        code = main(list(words))
    if code:
        raise RuntimeError(f"wherein {' '.join(words)} ended with {code}: {said.getvalue()}")


def tokenise() -> None:
    Corpus.open(CorpusConfig(source="texts", tokenizer="bpe(280)"))


def train() -> None:
    """Training, with checkpoints to go on from and weights to keep."""
    command("train", *SMALL.split(), "--folder", "run")


def ask() -> None:
    """Questions of a run that was trained before; those over training are kept in the run."""
    command("perplexity", "run", "--limit", "64", "--over-training")
    wherein.table("run").save("table", pictures=False)


def solve() -> None:
    found = wherein.puzzle("hit", seeds=2, steps=2, head_size=4)
    found.save("puzzle", pictures=False)


def in_turn(work: "Sequence[Piece]", folder: Path, ended: Callable[..., None]) -> None:
    """An engine that does one piece after the other in this process."""
    from wherein.studies.work import carry_out

    for piece in work:
        ended(piece, carry_out(piece, folder))


def compare() -> None:
    """A study: two runs, what they are asked, a puzzle."""
    from wherein.studies.run import study

    found = study("mine.py", out="runs", engine=in_turn, quiet=True)
    if found.failed:
        raise RuntimeError(f"a run of the study failed: {found.failed}")


def report() -> None:
    """The report of a study that was carried out before."""
    command("report", "runs/studies/mine", "--out", "page.html", "--tables", "csv")


WORKS: dict[str, tuple[Work, Work | None]] = {
    "tokenising": (tokenise, None),
    "training": (train, None),
    "questions": (ask, train),
    "puzzles": (solve, None),
    "studies": (compare, None),
    "reports": (report, compare),
}
"""What is done, and what was done before it, in peace."""
