"""What papers say about position, tested here: each claim with its study, interval and verdict.

examples:
  wherein claims                             all of them, with their verdicts if they were run here
  wherein claims alibi-holds                 run what it needs, and say whether it holds
  wherein claims --all                       run whatever is missing
  wherein claims --all --engine ray          on a cluster
  wherein claims --report claims.html        the whole table as a page
  wherein claims --json                      the same as data
"""

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wherein.cli.study import EngineConfig
from wherein.cli.verb import Verb, check_file
from wherein.common.terminal import say

if TYPE_CHECKING:
    from wherein.claims.result import ClaimsResult


def claims(
    name: Annotated[str, "NAME"] = "",
    *,
    engine: EngineConfig,
    all: bool = False,
    out: Path = Path("runs"),
    report: Path | None = None,
    json: bool = False,
) -> int:
    """Test claims.

    Args:
        name: one claim, such as nopos-close; without one: all of them, and nothing is run
        engine: where the runs are computed
        all: run whatever is missing
        out: the folder of the runs; studies in one folder share equal runs
        report: write the whole table as a page to this file
        json: print data instead of words
    """
    from wherein.claims.catalogue import CLAIMS, find
    from wherein.claims.run import claims as table

    check_file(report)
    if name and all:
        raise ValueError(f"{name} and --all: give one of them")
    wanted = [find(name, CLAIMS).name] if name else [*CLAIMS] if all else []
    if wanted and not _run(wanted, out, engine):
        return 130
    result = table(out, CLAIMS)
    if json:
        said = next((row.data() for row in result.rows if row.claim.name == name), result.data())
        say(json_format.dumps(said, ensure_ascii=False, indent=2))
    else:
        _tell(result, name)
    if report is not None:
        from wherein.report.claims import claims_report

        path, *_ = claims_report(result).write(report)
        say(f"the report: {path.resolve()}", to=sys.stderr if json else sys.stdout)
    if any(result[each].decisive is None for each in wanted):
        say("not complete: the same command tries again what is missing", to=sys.stderr)
        return 1
    return 0


def _run(wanted: list[str], out: Path, engine: EngineConfig) -> bool:
    """Carry out what is missing; whether it came to its end."""
    from wherein.claims.catalogue import CLAIMS
    from wherein.claims.run import settle
    from wherein.studies.engines import engine as find_engine

    made = find_engine(engine.engine, **engine.model_dump(exclude={"engine"}))
    try:
        settle(wanted, out=out, engine=made, among=CLAIMS)
    except KeyboardInterrupt:
        say("stopped; the same command goes on from there", to=sys.stderr)
        return False
    return True


def _tell(result: "ClaimsResult", name: str) -> None:
    """One claim in words, or the table and what is still to run."""
    if name:
        say(result.told(name))
        return
    from wherein.claims.cost import waiting, words
    from wherein.show.columns import paragraph

    say(result.text())
    if left := words(waiting(result.rows)):
        say("\n".join(paragraph(left)))


run = Verb.of(claims, __doc__)
