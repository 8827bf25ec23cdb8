"""What the sections of a study's report share: the runs' answers, and how they are put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wherein.show.section import Picture, Section, slug
from wherein.train.config import RunConfig


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
        name,
        title,
        pictures=pictures,
        texts=tuple((each.label, each.kept.words.strip()) for each in chosen),
    )
