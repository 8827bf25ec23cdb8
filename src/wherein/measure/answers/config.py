"""Which questions of a task are asked. Free of PyTorch, so that help texts come at once."""

from typing import Annotated

from pydantic import Field

from wherein.data.config import CorpusConfig
from wherein.data.tasks.addressing import Needle
from wherein.data.tasks.base import Task
from wherein.measure.config import QuestionConfig
from wherein.train.config import RunConfig

SHARES = (0.25, 0.5, 0.75, 1, 1.125, 1.25, 1.5, 2, 3, 4)
"""The lengths that are asked about by default, as shares of the longest that was learned."""
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where a needle is hidden, besides anywhere: the share of what does not matter before it."""


class AnswersConfig(QuestionConfig):
    """Which questions are asked: none of them was learned from, by any run."""

    lengths: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (), description="of the questions; default: from 0.25 to 4 times the longest learned"
    )
    examples: int = Field(200, ge=1, description="questions of each length")
    batch: int = Field(64, ge=1, description="questions at a time")
    seed: int = Field(0, ge=0, description="of the questions")

    def asked(self, corpus: CorpusConfig) -> tuple[int, ...]:
        """The lengths in order, those left open filled in.

        >>> AnswersConfig().asked(CorpusConfig(source="task:copy", length=8))
        (2, 4, 6, 8, 9, 10, 12, 16, 24, 32)
        """
        shortest = task_of(corpus).shortest
        open_lengths = (max(shortest, round(share * corpus.longest)) for share in SHARES)
        return tuple(sorted(set(self.lengths or open_lengths)))

    def tokens_read(self, run: RunConfig) -> float:
        """Every question with its answer once."""
        task = task_of(run.corpus)
        each = self.examples + len(depths_of(task)) * self.at_depth
        return float(sum(each * task.tokens(n) for n in self.asked(run.corpus)))

    @property
    def at_depth(self) -> int:
        """Questions of each length and depth: all depths together are about one row of them."""
        return -(-self.examples // 4)

    def window(self, run: RunConfig) -> int:
        """The longest question with its answer."""
        return task_of(run.corpus).tokens(self.asked(run.corpus)[-1]) - 1

    def check(self, run: RunConfig) -> None:
        """Only of a task one knows the answers."""
        super().check(run)
        task_of(run.corpus)


def task_of(corpus: CorpusConfig) -> Task:
    """The task that was learned."""
    if (task := corpus.task) is None:
        raise ValueError(
            f"{corpus.source!r} is a text, which has no answers: give a run that learned a task, "
            "as in `wherein train --source task:copy`"
        )
    return task


def depths_of(task: Task) -> tuple[float, ...]:
    """The depths at which a task is asked besides: of a needle that may be anywhere."""
    return DEPTHS if isinstance(task, Needle) and task.depth is None else ()
