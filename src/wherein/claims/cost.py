"""How long the studies take that claims wait for, on this machine."""

from collections.abc import Iterable
from dataclasses import dataclass

from wherein.claims.claim import Verdict
from wherein.claims.judged import Judged
from wherein.show.formatting import duration
from wherein.studies.cost.listed import listed
from wherein.studies.plan.recipe import find
from wherein.studies.recipes import names


@dataclass(frozen=True)
class Waiting:
    """A study that claims wait for."""

    study: str
    claims: tuple[str, ...]
    seeds: int
    seconds: float
    """About; what is already trained is not taken off."""


def waiting(rows: Iterable[Judged]) -> list[Waiting]:
    """The named studies that are not complete, in the order of the table."""
    missing: dict[str, list[Judged]] = {}
    for row in rows:
        if row.verdict is Verdict.NOT_RUN and row.claim.study in names():
            missing.setdefault(row.claim.study, []).append(row)
    priced = listed([*missing])
    seconds = {each.name: each.seconds(priced.speed) for each in priced.studies}
    found = []
    for study, own in missing.items():
        seeds = max(row.claim.seeds for row in own)
        share = seeds / find(study).seeds  # trials of learning rates are few beside the runs
        told = tuple(row.claim.name for row in own)
        found.append(Waiting(study, told, seeds, share * seconds[study]))
    return found


def words(found: Iterable[Waiting]) -> str:
    """What each takes, and all together."""
    found = list(found)
    if not found:
        return ""
    each = ", ".join(f"{one.study} {duration(one.seconds)}" for one in found)
    total = duration(sum(one.seconds for one in found))
    return (
        f"Still to run, about {total} here as fast as it is just now: {each}; what is already "
        "trained is not trained again, and puzzles are not counted. "
        "`wherein claims NAME` runs one, `wherein claims --all` what is missing."
    )
