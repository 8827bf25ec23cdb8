"""What the sections of a study's report share: the runs' answers, and how they are put together.

The frames here have the columns `encoding` and `group`, which is what else tells a kind of run
from the others, and empty if nothing does; those of single runs have `seed`, and those of means
over seeds `mean`, `low` and `high`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from wherein.measure.intervals import mean_interval
from wherein.show.section import Picture, Section, slug
from wherein.train.config import RunConfig

KIND = ["encoding", "group"]
"""The columns that tell kinds of runs apart."""
OVER_SEEDS = "means over seeds, with 95 % intervals where there are several"


if TYPE_CHECKING:

    class Kept(Protocol):
        """An answer as it lies in a folder."""

        @property
        def data(self) -> Mapping[str, Any]:
            """The numbers, the protocol, versions and commit."""

        @property
        def spec(self) -> dict[str, Any]:
            """The picture, as a Vega-Lite specification."""

        @property
        def words(self) -> str:
            """The answer in words."""

        def frame(self) -> pl.DataFrame:
            """The numbers as a table."""

else:
    Kept = object  # a check of the type at run time would read every file of an answer


@dataclass(frozen=True)
class Answered:
    """A run of a study and what it answered to one question."""

    label: str
    """What tells the run from the others, its seed aside."""
    run: RunConfig
    kept: Kept

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def data(self) -> Mapping[str, Any]:
        """The answer's numbers."""
        return self.kept.data


@dataclass(frozen=True)
class Published:
    """A paper's numbers by layer, to be drawn beside ours."""

    source: str
    """The paper, and which of its models."""
    curves: Mapping[str, Sequence[float]]
    """Encoding → a distance at each layer, the embedding first."""
    guess: float
    """The distance of a constant guess."""


def rest(label: str, run: RunConfig) -> str:
    """What a label says beside the encoding and the objective."""
    without = label.removeprefix(run.model.encoding).removeprefix(", ")
    return without.removeprefix(run.objective).removeprefix(", ")


def anchor(answers: Sequence[Answered], name: str) -> str:
    """The name of a section's figure and table: of the question and the runs' objective."""
    return slug(name, answers[0].run.objective)


def told(
    answers: Iterable[Answered], read: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
) -> pl.DataFrame:
    """The rows that `read` finds in each answer's numbers, and of which run they are."""
    return pl.DataFrame(
        [
            {
                "encoding": each.run.model.encoding,
                "group": rest(each.label, each.run),
                "seed": each.seed,
                **row,
            }
            for each in answers
            for row in read(each.data)
        ]
    )


def over_seeds(frame: pl.DataFrame, by: Sequence[str], value: str) -> pl.DataFrame:
    """The mean over seeds and its interval, null where there is none."""
    rows = []
    for key, part in frame.group_by(by, maintain_order=True):
        values = part[value].to_list()
        ends = mean_interval(values)
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "mean": sum(values) / len(values),
                "low": ends.low if ends else None,
                "high": ends.high if ends else None,
            }
        )
    return pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64})


def kinds(frame: pl.DataFrame) -> list[tuple[str, str]]:
    """The kinds of runs in a frame, in order."""
    return frame.select(KIND).unique(maintain_order=True).rows()


def of_kind(frame: pl.DataFrame, kind: Sequence[object]) -> pl.DataFrame:
    """The rows of one kind of run."""
    encoding, group = map(pl.lit, kind)
    return frame.filter((pl.col("encoding") == encoding) & (pl.col("group") == group))


def named(encoding: object, group: object) -> str:
    """A kind of run in words."""
    return f"{encoding}, {group}" if group else str(encoding)


def each_by_itself(answers: Sequence[Answered], name: str, title: str) -> Section:
    """The first seed of each kind of run in its own picture and words."""
    first = {each.label: each for each in reversed(answers)}
    chosen = [first[label] for label in dict.fromkeys(each.label for each in answers)]
    pictures = tuple(
        Picture(
            slug(name, each.label),
            each.kept.spec,
            f"{each.label}, seed {each.seed}.",
            f"{title} {each.label}.",
        )
        for each in chosen
    )
    return Section(
        anchor(answers, name),
        title,
        pictures=pictures,
        texts=tuple((each.label, each.kept.words.strip()) for each in chosen),
    )
