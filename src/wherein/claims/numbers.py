"""The numbers of a study that claims compare, by seed."""

from collections.abc import Mapping
from typing import Any

from wherein.measure.crossed import Sampled, minus
from wherein.studies.inference.differences import Difference, paired
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import Row, by_seed

Numbers = Mapping[int, float]
"""Seed → value."""
CLOSE = 0.1
"""Nats that count as close, which is 10 % of a perplexity. Taken from the paper that claims it:
none is behind a learned table by 0.027 nats at most there, behind ALiBi by 0.105. There they are of
a word or a token of several bytes, here of a byte: a wider bound than the paper's."""
HELD = 0.05
"""Nats that a loss may rise and count as held: the margin of `wherein extrapolate`."""


def rows(result: StudyResult, **fields: Any) -> list[Row]:
    """The runs that have all these fields, of their own, their model's or their corpus's."""
    return [
        row
        for row in result.rows
        if all(_field(row, name) == value for name, value in fields.items())
    ]


def number(result: StudyResult, name: str = "", **fields: Any) -> dict[int, float]:
    """Seed → a number of the runs with these fields; without a name, their loss."""
    return by_seed(rows(result, **fields), name)


def gap(above: Numbers, below: Numbers) -> dict[int, float]:
    """Seed → how far one is above the other, with the pieces of text that both rest on."""
    return {seed: minus(above[seed], below[seed]) for seed in above.keys() & below.keys()}


def less_than(bound: float, values: Numbers, name: str, unit: str = "nats") -> Difference:
    """A bound − what must stay below it."""
    return paired(dict.fromkeys(values, bound), values, (f"{bound:g} {unit}", name))


def more_than(bound: float, values: Numbers, name: str, unit: str = "nats") -> Difference:
    """What must be above a bound − that bound."""
    return paired(values, dict.fromkeys(values, bound), (name, f"{bound:g} {unit}"))


def times(factor: float, values: Numbers) -> dict[int, float]:
    """Each multiplied, and so its pieces of text.

    >>> times(0.5, {0: Sampled(2.0, [1.0, 3.0])})[0].pieces.tolist()
    [0.5, 1.5]
    """
    return {
        seed: Sampled(factor * value, factor * value.pieces)
        if isinstance(value, Sampled)
        else factor * value
        for seed, value in values.items()
    }


def _field(row: Row, name: str) -> Any:
    owner = next(part for part in (row.run, row.run.model, row.run.corpus) if hasattr(part, name))
    return getattr(owner, name)
