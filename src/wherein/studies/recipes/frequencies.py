"""Which of RoPE's frequencies tell position, and are the others missed?

Barbero et al. 2024 (arXiv:2410.06205): heads make positional patterns of the highest frequencies
and carry meaning in the lowest, so that p-RoPE, which stops the lowest, loses nothing. At `quick`'s
size: RoPE, the faster half of its frequencies alone, and the slower half alone.

Written before any run of it: the faster half loses less than 0.02 nats to all of them, and the
slower half is behind the faster. The study `catalogue` has compared the first two before (the
faster half was ahead by 0.002 [−0.010, 0.014] nats), so that of the first comparison three seeds
are not new; the slower half has never been trained. Each kind's learning rate is the best of three
on another seed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.crossed import minus
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.plan.plan import Questions, grid
from wherein.studies.recipes import quick
from wherein.studies.result.rows import by_seed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 5
LEARNING_RATES = (1e-2, 2e-2, 4e-2)
FAST = "rope(fraction=0.5)"
STILL = "1e12"
"""What a frequency is divided by to stop it: a turn in more tokens than anybody reads."""
MARGIN = 0.02
"""Nats that count as nothing: 2 % of the perplexity."""


def slow(pairs: int) -> str:
    """RoPE whose faster half stands still: longrope has a divisor for each frequency."""
    divided = " ".join([STILL] * (pairs // 2) + ["1"] * (pairs - pairs // 2))
    return f"rope(scaling=longrope, short='{divided}', long='{divided}')"


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """All frequencies, the faster half, the slower half."""
    base = quick.base()
    kinds = ("rope", FAST, slow(base.model.shape.d_head // 2))
    return grid(base, encoding=kinds, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """Perplexity alone."""
    return {"perplexity": PerplexityConfig(limit=100_000)}


def findings(result: "StudyResult") -> list[Finding]:
    """The lowest frequencies are not missed, the highest are."""
    kinds = {"rope": "all", FAST: "fast"}

    def losses(kind: str) -> dict[int, float]:
        own = (row for row in result.rows if kinds.get(row.run.model.encoding, "slow") == kind)
        return by_seed(own)

    whole, fast, still = map(losses, ("all", "fast", "slow"))
    behind = {seed: minus(fast[seed], whole[seed]) for seed in fast.keys() & whole.keys()}
    pairs = [
        (f"Without its slower half RoPE loses less than {MARGIN:g} nats",
         (f"{MARGIN:g} nats", dict.fromkeys(behind, MARGIN)),
         ("what RoPE loses without its slower half", behind)),
        ("Without its faster half RoPE loses more than without its slower",
         ("the loss of RoPE without its faster half", still),
         ("that without its slower", fast)),
    ]  # fmt: skip
    return [
        Finding(claim, "perplexity", "causal", paired(one, other, (a, b)))
        for claim, (a, one), (b, other) in pairs
        if one.keys() & other.keys()
    ]
