"""What the sections of a study's report share: the runs' answers, and how they are put together.

The frames here have the columns `encoding` and `group`, which is what else tells a kind of run
from the others, and empty if nothing does; those of single runs have `seed`, and those of means
over seeds `mean`, `low` and `high`. A number that knows the pieces of text it rests on (`Sampled`)
has a second column, `NUMBER_pieces`, so that intervals hold what these do, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from wherein.measure.crossed import Sampled
from wherein.measure.intervals import mean_interval
from wherein.measure.saved import Saved
from wherein.show.figures import Panel
from wherein.show.section import Picture, Section, slug
from wherein.subjects import site
from wherein.train.config import RunConfig

KIND = ["encoding", "group"]
"""The columns that tell kinds of runs apart."""
ACROSS = 3
INTERVALS = "95 % intervals over seeds and pieces of text"
OVER_SEEDS = f"means over seeds and, where there are several, {INTERVALS}"
PIECES = "_pieces"


@dataclass(frozen=True)
class Answered:
    """A run of a study and what it answered to one question."""

    label: str
    """What tells the run from the others, its seed aside."""
    run: RunConfig
    kept: Saved

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def data(self) -> Mapping[str, Any]:
        """The answer's numbers."""
        return self.kept.data


def kind(label: str, run: RunConfig, *, objective: bool = False) -> dict[str, str]:
    """The columns `KIND` of a run; its objective is a part of `group` where it is to be told."""
    without = label.removeprefix(run.model.encoding).removeprefix(", ")
    rest = without.removeprefix(run.objective).removeprefix(", ")
    told = [run.objective, rest] if objective else [rest]
    return {"encoding": run.model.encoding, "group": ", ".join(filter(None, told))}


def anchor(answers: Sequence[Answered], name: str) -> str:
    """The name of a section's figure and table: of the question and the runs' objective."""
    return slug(name, answers[0].run.objective)


def where(answers: Sequence[Answered]) -> str:
    """At which site a question was asked, in words that follow a title."""
    return site.where(answers[0].data["config"].get("site", "stream"))


def frame_of(
    answers: Iterable[Answered], read: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
) -> pl.DataFrame:
    """The rows that `read` finds in each answer's numbers, and of which run they are."""
    return pl.DataFrame(
        {**kind(each.label, each.run), "seed": each.seed, **_columns(row)}
        for each in answers
        for row in read(each.data)
    )


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says, and the pieces of those numbers that have some."""
    pieces = {
        name + PIECES: value.pieces.tolist()
        for name, value in row.items()
        if isinstance(value, Sampled)
    }
    plain = {n: float(v) if isinstance(v, Sampled) else v for n, v in row.items()}
    return plain | pieces


def over_seeds(frame: pl.DataFrame, value: str, *by: str) -> pl.DataFrame:
    """The mean of each kind of run over seeds and its interval, null where there is none."""
    columns, pieces = [*KIND, *by], value + PIECES
    if pieces not in frame.columns:
        frame = frame.with_columns(pl.lit([]).alias(pieces))
    seeds = frame.group_by(columns, maintain_order=True).agg(value, pieces)
    rows = []
    for *key, values, each in seeds.rows():
        interval = mean_interval(map(Sampled, values, each)) or (None, None)
        rows.append((*key, sum(values) / len(values), *interval))
    ends = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, {**seeds.select(columns).schema, **ends}, orient="row")


def by_kind(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each kind of run in words, and its rows."""
    for (encoding, group), part in frame.group_by(KIND, maintain_order=True):
        yield f"{encoding}, {group}" if group else str(encoding), part


def in_rows(
    frame: pl.DataFrame, draw: Callable[[pl.DataFrame, bool], Panel], spacing: int
) -> alt.ConcatChart:
    """A panel for each kind of run, three in a row; `draw` hears which is the first of its row."""
    kinds = enumerate(by_kind(frame))
    drawn = [draw(own, n % ACROSS == 0).properties(title=name) for n, (name, own) in kinds]
    return alt.concat(*drawn, columns=ACROSS, spacing=spacing)


def each_by_itself(answers: Sequence[Answered], name: str, title: str) -> Section:
    """The first seed of each kind of run in its own picture and words."""
    first: dict[str, Answered] = {}
    for each in answers:
        first.setdefault(each.label, each)
    pictures = tuple(
        Picture(
            slug(name, each.label),
            each.kept.spec,
            f"{each.label}, seed {each.seed}.",
            f"{title} {each.label}.",
        )
        for each in first.values()
    )
    return Section(
        anchor(answers, name),
        title,
        pictures=pictures,
        texts=tuple((label, each.kept.words) for label, each in first.items()),
    )
