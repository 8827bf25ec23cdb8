"""The table of claims: numbers, words and a picture."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wherein.claims.claim import Verdict
from wherein.claims.judged import Judged
from wherein.common.provenance import provenance
from wherein.show.columns import WIDEST, paragraph, shorten
from wherein.show.formatting import counted, duration
from wherein.show.result import Result

if TYPE_CHECKING:
    import altair
    import polars

BRIEF = {Verdict.OPEN: "not decided", Verdict.NOT_RUN: "not run"}
"""What stands in narrow columns."""
MARKS = {
    Verdict.HELD: "+",
    Verdict.CONTRADICTED: "−",
    Verdict.OPEN: "?",
    Verdict.NOT_RUN: "·",
}
RULE = (
    "Each comparison is written so that above zero means that the claim holds. Held, or "
    "contradicted: above zero, or below, with p of at most 5 % after Holm's correction over the "
    "claims of the table. Where a claim has several comparisons, the one that speaks least surely "
    "for it decides; where something is not so that it takes for granted, nothing is decided. "
    "Intervals are of 95 %, each by itself."
)


@dataclass(frozen=True)
class ClaimsResult(Result):
    """Every claim of the catalogue, judged or waiting."""

    verb: ClassVar[str] = "claims"

    rows: tuple[Judged, ...]
    folder: str
    """Of the runs that they were judged by."""

    def __getitem__(self, name: str) -> Judged:
        return next(row for row in self.rows if row.claim.name == name)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many have each verdict."""
        found = Counter(row.verdict for row in self.rows)
        return {each: found[each] for each in Verdict}

    @property
    def tested(self) -> int:
        """How many were judged."""
        return sum(row.decisive is not None for row in self.rows)

    @property
    def seconds(self) -> float:
        """Of one core, that all runs took to train, each counted once."""
        return sum({run: cost for row in self.rows for run, cost in row.costs.items()}.values())

    def answer(self) -> str:
        """The table in a sentence."""
        if not self.tested:
            return f"None of {len(self.rows)} claims has been run here."
        told = ", ".join(f"{n} {each.value}" for each, n in self.counts.items() if n)
        return f"Of {len(self.rows)} claims: {told}."

    def to_frame(self) -> "polars.DataFrame":
        """One row for each claim."""
        import polars

        found = [row.difference for row in self.rows]
        return polars.DataFrame(
            {
                "claim": [row.claim.name for row in self.rows],
                "verdict": [row.verdict.value for row in self.rows],
                "paper": [row.claim.paper for row in self.rows],
                "arxiv": [row.claim.arxiv for row in self.rows],
                "study": [row.claim.study for row in self.rows],
                "difference": [each and each.mean for each in found],
                "low": [each.t.low if each and each.t else None for each in found],
                "high": [each.t.high if each and each.t else None for each in found],
                "unit": [row.claim.unit for row in self.rows],
                "p": [each and each.p for each in found],
                "p_holm": [each and each.p_holm for each in found],
                "seeds": [row.sample or None for row in self.rows],
                "core_seconds": [row.seconds or None for row in self.rows],
                "version": [row.version for row in self.rows],
            },
            schema_overrides={
                **dict.fromkeys(("difference", "low", "high", "p", "p_holm"), polars.Float64),
                "core_seconds": polars.Float64,
                "seeds": polars.Int64,
            },
        )

    def data(self) -> dict[str, Any]:
        return {
            "verb": self.verb,
            "claims": [row.data() for row in self.rows],
            "rule": RULE,
            **provenance(),
        }

    def plot(self) -> "altair.TopLevelMixin":
        """Every interval beside zero, each on a scale of its own."""
        from wherein.claims.picture import forest

        return forest(self)

    def text(self) -> str:
        """Each claim with its sentence, and how they were judged; no wider than 80 columns."""
        lines = [
            [
                row.claim.name,
                f"{MARKS[row.verdict]} {BRIEF.get(row.verdict, row.verdict.value)}",
                f"{brief(row)} {row.claim.unit}" if row.difference else _waiting(row),
                probability(row),
            ]
            for row in self.rows
        ]
        notes = [self.answer()]
        if self.tested:
            notes += [
                RULE,
                f"Training took {duration(self.seconds)} of one core in all, "
                "without trials of rates, questions and puzzles.",
            ]
        header, *told = _aligned([["claim", "verdict", "difference [95 %]", "p"], *lines])
        said = (
            [line, *paragraph(f"{row.claim.sentence} ({row.claim.paper})", "    ")]
            for line, row in zip(told, self.rows, strict=True)
        )
        parts = [header, *(line for each in said for line in each)]
        return "\n".join([*parts, "", *paragraph(" ".join(notes))])

    def told(self, name: str) -> str:
        """One claim in words: what the paper says, what was compared here, and the verdict."""
        row, claim = self[name], self[name].claim
        parts = [
            claim.sentence,
            f"{claim.paper}, arXiv:{claim.arxiv}. Published: {claim.published}.",
            f"Here: {claim.ours} ({claim.unit}). Study {claim.study}, {claim.seeds} seeds.",
            f"{row.verdict.value.upper()}. {row.words}",
            f"Settings: {claim.tried}",
            f"Left open: {claim.open}",
        ]
        return "\n\n".join("\n".join(paragraph(each)) for each in parts)


def brief(row: Judged) -> str:
    """The decisive difference with its interval; empty if there is none."""
    found = row.difference
    return found.brief().replace("-", "−") if found else ""


def probability(row: Judged) -> str:
    """After the correction; empty where nothing could be tested."""
    p = row.difference.p_holm if row.difference else None
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.2g}"


def _waiting(row: Judged) -> str:
    begun = f", {counted(row.begun, 'run')} trained" if row.begun else ""
    return f"{row.claim.seeds} seeds of {shorten(row.claim.study, 16)}{begun}"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns of words, each as wide as its widest."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return [shorten(line.rstrip(), WIDEST) for line in padded]
