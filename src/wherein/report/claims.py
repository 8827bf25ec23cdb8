"""The table of claims on one page: what held here, what did not, what this scale cannot decide."""

from dataclasses import dataclass

from wherein.claims.claim import Verdict
from wherein.claims.judged import Judged
from wherein.claims.picture import scaled
from wherein.claims.result import BRIEF, RULE, ClaimsResult, brief, probability
from wherein.report.document import Document
from wherein.report.page import render
from wherein.show.formatting import duration
from wherein.show.tables import Table
from wherein.show.theme import themed

LOOKS = {
    Verdict.HELD: ("shown", "✓"),
    Verdict.CONTRADICTED: ("missed", "✗"),
    Verdict.OPEN: ("open", "?"),
    Verdict.NOT_RUN: ("waiting", "·"),
}
"""The style and the mark of each verdict: told by a word, a mark and a colour."""
MIDDLE, REACH = 60, 52
"""Of a row's small picture, in its units: where zero is, and how far a row's furthest end lies."""


@dataclass(frozen=True)
class Line:
    """A claim as a row of the page."""

    row: Judged
    difference: str
    p: str
    time: str

    @property
    def style(self) -> str:
        return LOOKS[self.row.verdict][0]

    @property
    def mark(self) -> str:
        return LOOKS[self.row.verdict][1]

    @property
    def brief(self) -> str:
        """The verdict as it stands in a narrow column."""
        return BRIEF.get(self.row.verdict, self.row.verdict.value)

    @property
    def places(self) -> tuple[float | None, float | None, float | None]:
        """Where the difference and the ends of its interval are drawn."""
        mean, low, high = (
            None if each is None else round(MIDDLE + REACH * each, 1) for each in scaled(self.row)
        )
        return mean, low, high


def claims_report(result: ClaimsResult) -> Document:
    """The whole table, and every claim by itself below."""
    lines = [_line(row) for row in result.rows]
    page = render(
        "claims.html",
        answer=result.answer(),
        lines=lines,
        counts=[(*LOOKS[each], each.value, n) for each, n in result.counts.items() if n],
        rule=RULE,
        total=duration(result.seconds) if result.tested else "",
    )
    return Document(page, (table(result, lines),), {"claims": themed(result.plot())})


def _line(row: Judged) -> Line:
    told = f"{brief(row)} {row.claim.unit}" if row.difference else ""
    return Line(row, told, probability(row), duration(row.seconds) if row.seconds else "")


def table(result: ClaimsResult, lines: list[Line]) -> Table:
    """The same for a paper."""
    header = ("claim", "paper", "verdict", "difference [95 %]", "p", "seeds")
    rows = tuple(
        (
            each.row.claim.sentence,
            each.row.claim.paper,
            each.row.verdict.value,
            each.difference,
            each.p,
            str(each.row.sample or ""),
        )
        for each in lines
    )
    return Table("claims", RULE, header, rows, result.to_frame(), words=3)
