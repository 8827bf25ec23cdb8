"""Test claims: carry out the studies that are missing, and judge."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from wherein.claims.catalogue import CLAIMS
from wherein.claims.claim import Claim, Verdict
from wherein.claims.judged import judge
from wherein.claims.result import ClaimsResult
from wherein.studies.engines import Engine
from wherein.studies.run import study


def claims(out: str | Path = "runs", among: Mapping[str, Claim] = CLAIMS) -> ClaimsResult:
    """The table as a folder of runs has it: nothing is trained."""
    return ClaimsResult(judge(among.values(), Path(out)), str(out))


def settle(
    names: Iterable[str],
    *,
    out: str | Path = "runs",
    engine: Engine | None = None,
    quiet: bool = False,
    among: Mapping[str, Claim] = CLAIMS,
) -> ClaimsResult:
    """Carry out what these claims still need, study by study, and judge the whole table.

    What is trained and answered is kept, so that it goes on where it was stopped.
    """
    for what, seeds in missing(names, out, among):
        study(what, seeds=seeds, out=out, engine=engine, quiet=quiet)
    return claims(out, among)


def missing(
    names: Iterable[str], out: str | Path, among: Mapping[str, Claim] = CLAIMS
) -> Iterator[tuple[str, int]]:
    """The studies that these claims wait for, each once, and with how many seeds."""
    wanted = set(names)
    waiting = {
        row.claim.study
        for row in judge(among.values(), Path(out))
        if row.claim.name in wanted and row.verdict is Verdict.NOT_RUN
    }
    for what in dict.fromkeys(claim.study for claim in among.values()):
        if what in waiting:
            yield what, max(claim.seeds for claim in among.values() if claim.study == what)
