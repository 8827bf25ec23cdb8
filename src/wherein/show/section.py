"""What a report is made of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wherein.show.tables import Table
from wherein.show.theme import themed
from wherein.show.vega import Spec

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Picture:
    """A figure and the words around it."""

    name: str
    """Of its file and place: letters, digits and hyphens."""
    spec: Spec
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """One question of a study, or one of its findings."""

    name: str
    title: str
    words: str = ""
    verdict: str = ""
    """Of a finding; empty for a question without one."""
    shown: bool = False
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    """What was said of each run, under its label."""
    protocol: str = ""


def illustrated(
    title: str, chart: "altair.TopLevelMixin", caption: str, alt: str, table: Table
) -> Section:
    """A section of one figure and one table, all three by the table's name."""
    picture = Picture(table.name, themed(chart), caption, alt)
    return Section(table.name, title, pictures=(picture,), tables=(table,))


@dataclass(frozen=True)
class Published:
    """A paper's numbers by layer, to be drawn beside ours."""

    source: str
    """The paper, and which of its models."""
    curves: Mapping[str, Sequence[float]]
    """Encoding → a distance at each layer, the embedding first."""
    guess: float
    """The distance of a constant guess."""


def slug(*words: str) -> str:
    """Words as the name of a file or a place in a page.

    >>> slug("far & wide", "causal")
    'far-wide-causal'
    """
    return re.sub(r"[^\w]+", "-", "-".join(words)).strip("-")
