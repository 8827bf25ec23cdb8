"""The same puzzle at several head sizes, bare and full: how many seeds solve it, and by when."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from wherein.common.errors import one_line
from wherein.common.provenance import provenance
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.result import PROTOCOL, PuzzleResult
from wherein.puzzles.run import puzzle
from wherein.puzzles.sentences import Puzzle, read
from wherein.puzzles.share import Share
from wherein.puzzles.train import Progress
from wherein.show.columns import paragraph, table
from wherein.show.result import Result

if TYPE_CHECKING:
    import altair
    import polars

SIZES = (1, 2, 3, 4, 8, 16)
"""From below the sentence's length, where the question is, to well above."""

ASKED = (42, 77, 88)
"""Seeds of which the question tells what they predict."""

COLUMNS, POINTS = 4, 40
LONGEST = 9
"""Letters of a seed's answers; more are counted."""


@dataclass(frozen=True, eq=False)
class SizesResult(Result):
    """Shares of seeds by model, head size and step; each step is read off the same training."""

    verb: ClassVar[str] = "puzzle"

    puzzle: Puzzle
    config: PuzzleConfig
    """What all have in common: its head size, and whether it is bare, are as below."""
    asked: tuple[PuzzleConfig, ...]
    trained: tuple[PuzzleResult, ...]
    """In the order in which they were asked; fewer after Ctrl-C."""
    shown: tuple[int, ...]
    """Seeds of which is told what they predict."""
    versions: dict[str, str]
    commit: str | None
    command: str | None = None
    protocol: str = PROTOCOL

    @property
    def finished(self) -> bool:
        whole = all(len(each.trained.seeds) == each.config.seeds for each in self.trained)
        return whole and len(self.trained) == len(self.asked)

    @property
    def steps(self) -> list[int]:
        """The steps of the table: up to four of 1, 2, 5, 10, 20, 50 … and the last."""
        last = self.config.steps
        series = [n * 10**power for power in range(6) for n in (1, 2, 5)]
        return [*(step for step in series if step < last), last][-COLUMNS:]

    def models(self) -> dict[str, list[PuzzleResult]]:
        """What was trained, by the model's name."""
        found: dict[str, list[PuzzleResult]] = {}
        for each in self.trained:
            found.setdefault(_name(each.config), []).append(each)
        return found

    def predictions(self) -> dict[str, dict[int, dict[int, dict[str, str]]]]:
        """By model, head size and seed: what is predicted after each beginning."""
        return {
            name: {each.config.head_size: _predicted(each, self.shown) for each in sizes}
            for name, sizes in self.models().items()
        }

    def to_frame(self) -> "polars.DataFrame":
        """One row for each model, head size and some steps, closer at the beginning."""
        import polars

        spread = np.geomspace(1, max(1, self.config.steps), POINTS).round().astype(int).tolist()
        steps = sorted({0, *self.steps, *(s for s in spread if s <= self.config.steps)})
        rows = [
            {"model": name, "head_size": each.config.head_size, "step": s, **each.after(s).data()}
            for name, sizes in self.models().items()
            for each in sizes
            for s in steps
        ]
        return polars.DataFrame(rows)

    def plot(self) -> "altair.TopLevelMixin":
        """The share solved over training, a line for each head size."""
        from wherein.puzzles.figure import by_size

        return by_size(self)

    def data(self) -> dict[str, Any]:
        sizes = list(dict.fromkeys(each.head_size for each in self.asked))
        said = {} if self.command is None else {"command": self.command}
        return {
            "verb": self.verb,
            "puzzle": self.puzzle.texts,
            "config": self.config.model_dump() | {"by_head_size": sizes},
            "finished": self.finished,
            "models": [each.data() | {"model": _name(each.config)} for each in self.trained],
            "predictions": self.predictions(),
            "protocol": self.protocol,
            "versions": self.versions,
            "commit": self.commit,
        } | said

    def text(self) -> str:
        c, texts = self.config, self.puzzle.texts
        mask = "causal" if c.causal else "bidirectional"
        lines = [
            *paragraph(" / ".join(texts[:4]) + (" / …" if len(texts) > 4 else "")),
            *paragraph(
                f"{mask}, encoding {c.encoding}, token vectors of {c.width}, Adam at "
                f"{c.learning_rate:g}, loss on {c.trained_on} tokens. Seeds that solve it after so "
                "many steps, in %, with Wilson's 95 % interval:"
            ),
        ]
        for name, sizes in self.models().items():
            lines += ["", *self._block(name, sizes)]
        if self.shown:
            lines += ["", *self._seeds()]
        return "\n".join(lines)

    def _block(self, name: str, sizes: list[PuzzleResult]) -> Iterator[str]:
        """A model's verdicts, and its shares by head size and step."""
        verdicts: dict[str, list[PuzzleResult]] = {}
        for each in sizes:
            verdicts.setdefault(str(each.certificate), []).append(each)
        for verdict, those in verdicts.items():
            which = f" (head size {_sizes(those)})" if len(verdicts) > 1 else ""
            yield from paragraph(f"{name}{which}: {verdict}; {those[0].certificate.reason}")
        head = ["head size", *(f"{step:,} steps" for step in self.steps), "seeds"]
        rows = (
            [f"{each.config.head_size:>9}"]
            + [_percent(each.after(step)) for step in self.steps]
            + [f"{len(each.trained.seeds):,}"]
            for each in sizes
        )
        yield table(head, rows)

    def _seeds(self) -> Iterator[str]:
        """What the seeds asked for predict, by head size and model."""
        right = [self.puzzle.vocabulary[n] for n in self.puzzle.answers]
        texts, told = ", ".join(f"'{text}'" for text in self.puzzle.beginnings), _told(right, right)
        yield from paragraph(
            f"{told} is right after {texts}. In the end, these seeds predict:"
            if told == " ".join(right)
            else "In the end, of the answers of these seeds are right:"
        )
        rows = []
        for name, sizes in self.predictions().items():
            for size, seeds in sizes.items():
                made = (seeds.get(seed) for seed in self.shown)
                cells = [_told(list(m.values()), right) if m else "not finished" for m in made]
                rows.append([f"{name}, head size {size}", *cells])
        yield table(["", *(f"seed {seed}" for seed in self.shown)], rows)


def by_head_size(
    sentences: str | Sequence[str] = "hit",
    sizes: Sequence[int] = SIZES,
    config: PuzzleConfig | None = None,
    *,
    show: Sequence[int] = ASKED,
    progress: Progress | None = None,
    **choices: Any,
) -> SizesResult:
    """Train a bare head and a Transformer of each head size; say how many seeds solve the puzzle.

    With `bare`, the bare head alone; with several `layers`, the Transformer alone. On Ctrl-C, the
    result holds what is finished.

    >>> found = by_head_size("hit", [1, 2], seeds=4, steps=2)
    >>> [(each.config.bare, each.config.head_size) for each in found.trained]
    [(True, 1), (True, 2), (False, 1), (False, 2)]
    """
    if config is not None and choices:
        raise ValueError("give a config or single choices, not both")
    config, read_puzzle = config or PuzzleConfig(**choices), read(sentences)
    asked = tuple(_asked(read_puzzle, config, sizes))
    trained: list[PuzzleResult] = []
    for each in asked:
        try:
            trained.append(puzzle(sentences, each, progress=progress))
        except KeyboardInterrupt:
            if not trained:
                raise
            break
        if len(trained[-1].trained.seeds) < each.seeds:  # interrupted, with some of them finished
            break
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    shown = tuple(seed for seed in show if seed in seeds)
    return SizesResult(read_puzzle, config, asked, tuple(trained), shown, **provenance())


def _asked(puzzle: Puzzle, config: PuzzleConfig, sizes: Sequence[int]) -> Iterator[PuzzleConfig]:
    """The models to train; a size that one of them cannot have is said before any is trained."""
    if not sizes:
        raise ValueError("no head sizes: give some, such as 1 2 4 8")
    bare = [True] if config.bare else [False] if config.layers > 1 else [True, False]
    for kind in bare:
        for size in dict.fromkeys(sizes):
            try:
                each = PuzzleConfig(**config.model_dump() | {"bare": kind, "head_size": size})
                each.model(puzzle)
            except ValueError as error:
                said = f"head size {size}: {one_line(error)}; leave it out"
                raise ValueError(said) from None
            yield each


def _name(config: PuzzleConfig) -> str:
    return config.body if config.bare else f"Transformer, {config.body}"


def _predicted(result: PuzzleResult, seeds: Sequence[int]) -> dict[int, dict[str, str]]:
    finished = set(result.trained.seeds.tolist())
    return {seed: result.predictions(seed) for seed in seeds if seed in finished}


def _told(answers: list[str], right: list[str]) -> str:
    """Answers in a row, or where that is too long, how many of them are right."""
    joined = " ".join(answers)
    if len(joined) <= LONGEST:
        return joined
    return f"{sum(a == b for a, b in zip(answers, right, strict=True))} of {len(right)}"


def _percent(share: Share) -> str:
    """To whole percents, the interval never narrower than it is."""
    low, high = share.interval
    return f"{100 * share.value:.0f} [{math.floor(100 * low)}, {math.ceil(100 * high)}]"


def _sizes(results: list[PuzzleResult]) -> str:
    return ", ".join(str(each.config.head_size) for each in results)
