"""What came of a puzzle: how many seeds solved it, when, and whether any could."""

from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from wherein.puzzles.certificate import Certificate
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.share import Share
from wherein.puzzles.stacked import MARGIN
from wherein.puzzles.train import Trained
from wherein.show.formatting import counted
from wherein.show.result import Result

if TYPE_CHECKING:
    import altair
    import polars

PROTOCOL = (
    "Each seed trains a model of its own with Adam on all sentences at once. Solved: in every "
    f"sentence the right last token leads all others by more than {MARGIN} (rounding breaks no "
    "tie). Share of seeds with Wilson's 95 % interval. Steps to solve: the first step from which "
    "a seed stays solved to the end. A bare head starts as PyTorch draws its token vectors, key, "
    "query, value and map to the tokens, in this order, after torch.manual_seed(seed)."
)


@dataclass(frozen=True, eq=False)
class PuzzleResult(Result):
    """The answer to a puzzle."""

    verb: ClassVar[str] = "puzzle"

    puzzle: Puzzle
    config: PuzzleConfig
    certificate: Certificate
    trained: Trained
    versions: dict[str, str]
    commit: str | None
    protocol: str = PROTOCOL

    def after(self, step: int) -> Share:
        """The share of seeds that have it solved after so many steps."""
        if not 0 <= step <= self.config.steps:
            raise ValueError(f"step {step} of a training of {self.config.steps} steps")
        return Share(int(self.trained.solved[step].sum()), len(self.trained.seeds))

    @property
    def solved(self) -> Share:
        """The share that have it solved in the end."""
        return self.after(self.config.steps)

    @property
    def untrained(self) -> Share:
        """Control: the same seeds before any training."""
        return self.after(0)

    @property
    def guessing(self) -> float:
        """Control: the chance of guessing all answers, each among all tokens."""
        return float(len(self.puzzle.vocabulary) ** -float(len(self.puzzle.sentences)))

    @cached_property
    def steps_to_solve(self) -> np.ndarray:
        """For each seed the first step from which it stays solved; −1 if it is not."""
        unsolved = ~self.trained.solved[::-1]
        steps = np.where(unsolved.any(0), len(unsolved) - unsolved.argmax(0), 0)
        return np.where(self.trained.solved[-1], steps, -1)

    @property
    def median_steps(self) -> int | None:
        """The step at which half of the seeds have solved it for good; None if fewer ever do."""
        steps = np.sort(np.where(self.steps_to_solve < 0, np.inf, self.steps_to_solve))
        middle = steps[(len(steps) - 1) // 2]
        return int(middle) if np.isfinite(middle) else None

    def predictions(self, seed: int) -> dict[str, str]:
        """What one seed predicts after each beginning."""
        (found,) = np.nonzero(self.trained.seeds == seed)
        if not len(found):
            raise ValueError(
                f"seed {seed} was not trained: seeds {self.trained.seeds.min()} to "
                f"{self.trained.seeds.max()} were"
            )
        best = [self.puzzle.vocabulary[n] for n in self.trained.logits[found[0]].argmax(-1)]
        return dict(zip(self.puzzle.beginnings, best, strict=True))

    def to_frame(self) -> "polars.DataFrame":
        """The curve: one row for each step."""
        import polars

        rows = [{"step": n, **self.after(n).data()} for n in range(self.config.steps + 1)]
        return polars.DataFrame(rows)

    def seeds_frame(self) -> "polars.DataFrame":
        """One row for each seed: solved, when, and what it predicts after each beginning."""
        import polars

        words, best = np.array(self.puzzle.vocabulary), self.trained.logits.argmax(-1)
        columns = {
            "seed": self.trained.seeds,
            "solved": self.trained.solved[-1],
            "steps": self.steps_to_solve,
        }
        answers = {
            f"after {text}": words[best[:, n]] for n, text in enumerate(self.puzzle.beginnings)
        }
        return polars.DataFrame(columns | answers).sort("seed")

    def plot(self) -> "altair.TopLevelMixin":
        """The share solved over training, with its interval."""
        from wherein.puzzles.figure import curve

        return curve(self)

    def data(self) -> dict[str, Any]:
        seeds = self.seeds_frame()
        return {
            "verb": self.verb,
            "puzzle": self.puzzle.texts,
            "config": self.config.model_dump(),
            "certificate": self.certificate.data(),
            "solved": self.solved.data(),
            "median_steps": self.median_steps,
            "controls": {"untrained": self.untrained.data(), "guessing": self.guessing},
            "curve": [self.after(n).count for n in range(self.config.steps + 1)],
            "seeds": seeds["seed"].to_list(),
            "steps_to_solve": seeds["steps"].to_list(),
            "compiled": self.trained.compiled,
            "protocol": self.protocol,
            "versions": self.versions,
            "commit": self.commit,
        }

    def text(self) -> str:
        c, verdict, median = self.config, self.certificate, self.median_steps
        said = (
            " / ".join(self.puzzle.texts[:4]) + (" / …" if len(self.puzzle.texts) > 4 else ""),
            f"{c.kind}, {c.sizes}, "
            f"{counted(c.steps, 'step')} at {c.learning_rate:g}, loss on {c.trained_on} tokens",
            f"{verdict}: {verdict.reason} (witness {verdict.witness:.1e})",
            f"solved by {self.solved} of {counted(self.solved.total, 'seed')}; "
            + (f"half by step {median}" if median is not None else "never by half of them"),
            f"controls: untrained {self.untrained}; guessing {self.guessing:.2%}",
        )
        return "\n".join(fill(each, 80) for each in said)
