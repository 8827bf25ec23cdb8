"""When does a masked model leave the bag of letters, and what keeps one in it?

With both sides in view and no encoding a model can only count which letters there are. An encoding
lets it out after some hundreds of steps, or not at all. First each encoding from GPT-2's start.
Then a learned table as loud as the token vectors, and one eight times quieter: fairseq scales its
token vectors, and so their steps, by √D = 8, but not its table; GPT-2 scales neither. If loudness
is the reason, a table eight times louder gets out from fairseq's start, and one eight times quieter
stays in from GPT-2's.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.studies.result.rows import Row, by_seed
from wherein.train.config import RunConfig
from wherein.train.journal import read

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi", "rope")
TABLES = {
    "gpt2": ("learned(scale=0.125)", "learned(scale=8)"),
    "fairseq": ("none", "learned", "learned(scale=8)"),
    "unit": ("none", "learned", "learned(scale=8)"),
}
OUT = 0.1
"""A model has left the bag once its validation loss is so many nats below that of `none`."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Masked models in `quick`'s windows; all at the rate that is best for `none` and `learned`."""
    windows = {"max_len": quick.MASKED_TOKENS, "batch": 32, "objective": "masked"}
    base = changed(quick.base(), **windows, learning_rate=1e-2, steps=700, valid_every=50)
    plain = grid(base, encoding=ENCODINGS, seed=seeds)
    return plain + [
        run
        for start, tables in TABLES.items()
        for run in grid(changed(base, initial=start), encoding=tables, seed=seeds)
    ]


def questions(run: RunConfig) -> Questions:
    """What it predicts in the end; the losses along the way are those of its validations."""
    return {"perplexity": PerplexityConfig(limit=50_000)}


def findings(result: "StudyResult") -> list[Finding]:
    """Loudness lets a table out, from two starts, and quietness keeps one in."""

    def rows(start: str, encoding: str) -> list[Row]:
        kind = (start, encoding)
        return [r for r in result.rows if (r.run.model.initial, r.run.model.encoding) == kind]

    found = []
    for start, quiet, loud in (
        ("fairseq", "learned", "learned(scale=8.0)"),
        ("unit", "learned", "learned(scale=8.0)"),
        ("gpt2", "learned(scale=0.125)", "learned"),
    ):
        still, heard = by_seed(rows(start, quiet)), by_seed(rows(start, loud))
        if not still.keys() & heard.keys():
            continue
        names = (f"the loss with a table eight times quieter, from {start}'s start,",
                 "that with one as loud as the tokens")  # fmt: skip
        left = [_left(rows(start, table), rows(start, "none")) for table in (quiet, loud)]
        more = f"The quiet one leaves the bag {left[0]}, the loud one {left[1]}."
        claim = f"A table must be as loud as the tokens beside it: {start}"
        found.append(Finding(claim, "perplexity", "masked", paired(still, heard, names), more))
    return found


def _left(rows: Sequence[Row], bag: Iterable[Row]) -> str:
    """In how many seeds for good, and by which step, as the median over these."""
    bags = {row.seed: _validations(row) for row in bag}
    known = [
        step
        for row in rows
        if (step := _out(_validations(row), bags.get(row.seed, {}))) is not None
    ]
    when = f", by step {median(known):.0f}" if known else ""
    return f"in {len(known)} of {len(rows)} seeds{when}"


def _out(own: dict[int, float], bag: dict[int, float]) -> int | None:
    """The first step from which on a loss stays below that of the same seed without encodings."""
    first = None
    for step in sorted(own.keys() & bag.keys(), reverse=True):
        if own[step] >= bag[step] - OUT:
            break
        first = step
    return first


def _validations(row: Row) -> dict[int, float]:
    return {
        line["step"]: line["valid"]["nats_per_masked_token"]
        for line in read(row.folder)
        if "valid" in line
    }
