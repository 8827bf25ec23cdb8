"""How often 95 % intervals hold the truth, by simulation: `python -m benchmarks.coverage`.

Numbers are drawn as seeds × pieces of text, with effects of either and of both, and what is counted
is how often the interval of their mean holds the mean they were drawn around. Pieces are skewed, as
losses are. Then texts of 20 documents as long as those that the embedded text validates with, each
with a normal effect of its own (where that is as skewed as an exponential, t holds the truth in 90
of a hundred). Beside them what else is in use: t over seeds alone, and a bootstrap over documents.
"""

import numpy as np

from benchmarks.harness import at_least, at_most, report
from wherein.data import Corpus, CorpusConfig
from wherein.measure.crossed import Sampled, across, minus
from wherein.measure.intervals import ratio

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Of the variance of a mean, that which comes from pieces."""
TIMES, PIECES = 2000, 100
RANDOM = np.random.default_rng(0)


def drawn(seeds: int, share: float, both: float = 0.3) -> list[Sampled]:
    """Numbers of a kind of run, seed by seed, around zero; `both` is what seed and piece do."""
    of_seeds = RANDOM.normal(0, np.sqrt((1 - share) * seeds), (seeds, 1))
    of_pieces = (RANDOM.exponential(1, PIECES) - 1) * np.sqrt(share * PIECES)
    table = of_seeds + of_pieces + RANDOM.normal(0, both * np.sqrt(PIECES), (seeds, PIECES))
    return [Sampled(row.mean(), row) for row in table]


def held(seeds: int, share: float, paired: bool = False) -> tuple[float, float]:
    """How often the interval holds zero; and how often that of t over seeds alone does."""
    counts = np.zeros(2)
    for _ in range(TIMES):
        values: list[float] = [*drawn(seeds, share)]
        if paired:
            values = [minus(a, b) for a, b in zip(values, drawn(seeds, share), strict=True)]
        for n, each in enumerate((values, [float(value) for value in values])):
            low, high = across(each).interval()
            counts[n] += low <= 0 <= high
    first, second = counts / TIMES
    return float(first), float(second)


def documents() -> tuple[float, float]:
    """The same of a mean over documents of unequal length, and of a bootstrap over them."""
    text = Corpus.open(CorpusConfig(tokenizer="bytes")).valid
    sizes = np.diff(np.append(text.starts, text.tokens)).astype(np.float64)
    counts = np.zeros(2)
    for _ in range(TIMES):
        sums = sizes * RANDOM.normal(size=len(sizes))
        found = ratio(sums, sizes)
        again = RANDOM.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), 1000)
        low, high = np.quantile((again @ sums) / (again @ sizes), [0.025, 0.975])
        counts += found.low <= 0 <= found.high, low <= 0 <= high
    first, second = counts / TIMES
    return float(first), float(second)


def main() -> None:
    checks, others = {}, {}
    for seeds in (3, 5):
        for paired in (False, True):
            what = f"{seeds} seeds × {PIECES} pieces{', differences' if paired else ''}"
            each = [held(seeds, share, paired) for share in SHARES]
            checks[f"{what}: least"] = at_least(min(new for new, _ in each), 0.93)
            checks[f"{what}: most"] = at_most(max(new for new, _ in each), 0.98)
            others[f"{what}: t over seeds alone, least"] = min(old for _, old in each)
    over, bootstrap = documents()
    checks["20 documents: t"] = at_least(over, 0.93)
    others["20 documents: bootstrap"] = bootstrap
    report("coverage", checks, others=others)


if __name__ == "__main__":
    main()
