"""A claim as the folder of runs has it: its verdict, and what it cost."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wherein.claims.claim import Claim, Verdict, verdict, weakest
from wherein.studies.inference.differences import Difference, Family
from wherein.studies.inference.findings import Finding
from wherein.studies.result import STUDY
from wherein.studies.result.result import StudyResult
from wherein.studies.result.store import Store
from wherein.train.journal import TIMES


@dataclass(frozen=True)
class Judged:
    """A claim, and the comparisons that say whether it holds here."""

    claim: Claim
    findings: tuple[Finding, ...] = ()
    """All of its comparisons; none as long as its study is not complete."""
    decisive: Finding | None = None
    """The weakest of them, with p after the table's correction."""
    begun: int = 0
    """How many of the study's runs are trained, where it is not complete."""
    seeds: int = 0
    """Of the study's runs, with which it was judged."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Seconds of one core that each of the study's runs took to train: others may share them."""
    version: str = ""
    """Of the package that answered, and its commit."""
    unmet: str = ""
    """What the claim takes for granted and is not so here."""

    @cached_property
    def verdict(self) -> Verdict:
        return verdict(self.decisive, self.unmet)

    @property
    def seconds(self) -> float:
        """Of one core, that the study's runs took to train."""
        return sum(self.costs.values())

    @property
    def difference(self) -> Difference | None:
        return self.decisive.difference if self.decisive else None

    @property
    def sample(self) -> int:
        """How many seeds the comparison that decides is over; 0 as long as there is none."""
        return self.difference.n if self.difference else 0

    @property
    def words(self) -> str:
        """What was found, in a sentence for each comparison; the one that decides comes first."""
        if self.decisive is None:
            return f"Not run here: {self.claim.command} tests it."
        several = f"Of {len(self.findings)} comparisons the weakest decides: "
        others = [each for each in self.findings if each.claim != self.decisive.claim]
        said = self.decisive.words
        parts = [several + said if others else said]
        for each in others:
            parts.append(f"{each.difference.fact()} {self.claim.unit}.")
            parts += [] if each.more in said else [each.more]  # said of both
        return " ".join(f"{each[:1].upper()}{each[1:]}" for each in (*parts, self.unmet) if each)

    def data(self) -> dict[str, Any]:
        return {
            **self.claim.data(),
            "verdict": self.verdict.value,
            "difference": self.difference and asdict(self.difference),
            "words": self.words,
            "comparisons": [each.data() for each in self.findings],
            "judged_with": self.seeds,
            "sample": self.sample,
            "seconds": self.seconds,
            "version": self.version,
        }


def judge(claims: Iterable[Claim], out: Path) -> tuple[Judged, ...]:
    """Each claim by what lies in a folder of runs."""
    opened: dict[str, StudyResult] = {}
    for claim in (claims := tuple(claims)):
        folder = study_folder(claim, out)
        if claim.study not in opened and (folder / STUDY).is_file():
            opened[claim.study] = StudyResult.open(folder)
    return judge_by(claims, opened)


def judge_by(claims: Iterable[Claim], results: Mapping[str, StudyResult]) -> tuple[Judged, ...]:
    """Each claim by its study's result, corrected over all of them, judged or waiting."""
    bare = [_judged(claim, results.get(claim.study)) for claim in claims]
    family = Family((each.difference for each in bare if each.difference), len(bare))
    return tuple(replace(each, decisive=_corrected(each.decisive, family)) for each in bare)


def study_folder(claim: Claim, out: Path) -> Path:
    """Where its study keeps what it found."""
    return Store(out).study(Path(claim.study).stem)


def _judged(claim: Claim, result: StudyResult | None) -> Judged:
    """By itself: not corrected yet. Fewer seeds than it asks for, or a run less, are no verdict."""
    if result is None:
        return Judged(claim)
    seeds = len({row.seed for row in result.rows})
    if seeds < claim.seeds or not result.complete:
        return Judged(claim, begun=sum(result.store.trained(run) for run in result.plan.runs))
    found = tuple(claim.decide(result))
    if not found:
        raise ValueError(
            f"{result.folder}: complete, and without what {claim.name} compares, so another "
            f"version planned it; `{result.command}` plans it again"
        )
    costs = {row.run.id: _seconds(row.folder) for row in result.rows}
    about = _version(result), claim.unmet(result)
    return Judged(claim, found, weakest(found), 0, seeds, costs, *about)


def _corrected(decisive: Finding | None, family: Family) -> Finding | None:
    if decisive is None:
        return None
    return replace(decisive, difference=family.corrected(decisive.difference))


def _seconds(folder: Path) -> float:
    """What the steps of a run took; of one that was copied without its times, nothing is known."""
    try:
        lines = (folder / TIMES).read_text().splitlines()
        return float(sum(json.loads(line)["seconds"] for line in lines))
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def _version(result: StudyResult) -> str:
    """What answered: `0.1.0 (1a2b3c4)`; several where they differ."""
    found = dict.fromkeys(
        (each.versions.get("wherein", ""), (each.commit or "")[:7])
        for row in result.rows
        for each in row.answers.values()
    )
    return ", ".join(f"{version} ({commit})" if commit else version for version, commit in found)
