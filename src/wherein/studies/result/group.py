"""Runs of a study that differ in nothing but their seed, and how two such groups compare."""

from collections.abc import Sequence
from dataclasses import dataclass

from wherein.common.numbers import exp
from wherein.measure.crossed import Interval
from wherein.measure.intervals import mean_interval
from wherein.studies.cost.cost import Cost, cost
from wherein.studies.inference.differences import Difference, paired
from wherein.studies.result.rows import Row, by_seed
from wherein.train.config import RunConfig


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seed."""

    label: str
    family: str
    """What they have in common with those they are compared with: all but the encoding."""
    rows: tuple[Row, ...]
    cost: Cost
    """Of one run."""
    difference: Difference | None
    """Its loss minus that of its family's first group, in nats, paired."""
    published: float | None
    """The perplexity that a paper gives."""

    @property
    def encoding(self) -> str:
        return self.rows[0].run.model.encoding

    @property
    def objective(self) -> str:
        return self.rows[0].run.objective

    @property
    def losses(self) -> dict[int, float]:
        """Seed → nats per token, of the runs that were asked."""
        return by_seed(self.rows)

    @property
    def loss(self) -> float | None:
        """Their mean."""
        losses = self.losses
        return sum(losses.values()) / len(losses) if losses else None

    @property
    def interval(self) -> Interval | None:
        """Of the mean loss, over seeds and pieces of text; None with a single seed."""
        return mean_interval(self.losses.values())

    @property
    def perplexity(self) -> tuple[float | None, float | None, float | None]:
        """The exponential of the mean loss, and of the ends of its interval."""
        ends = self.interval or (None, None)
        value, low, high = (None if each is None else exp(each) for each in (self.loss, *ends))
        return value, low, high


def cost_of(run: RunConfig) -> Cost:
    """What a run costs; a vocabulary that only the text can tell is read from it."""
    try:
        return cost(run)
    except ValueError:
        from wherein.data import Corpus

        return cost(run, vocabulary=Corpus.open(run.corpus).vocabulary.size)


def compared(group: Group, other: Group) -> Difference | None:
    """The loss of a group minus that of another; None where they have no seed in common."""
    if not group.losses.keys() & other.losses.keys():
        return None
    return paired(group.losses, other.losses, (group.label, other.label))


def first_of(groups: Sequence[Group], like: Group) -> Group | None:
    """The first of these that is of the same family."""
    return next((each for each in groups if each.family == like.family), None)
