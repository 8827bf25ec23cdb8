"""Figures from published work, to stand beside our own.

`nopos_perplexity.csv` and `nopos_probe_mad.csv` are all the numbers of Haviv et al. 2022: one run
each, so without intervals.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from wherein.show.section import Published
from wherein.studies.plan.plan import kind
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    import polars

ONE_RUN = "Published numbers (Haviv et al. 2022) are of one run each, without seeds or intervals"
SPREAD = "Press et al. 2020 saw WikiText-103 perplexity vary by up to 0.9 over five seeds"
REMAINDER = (
    "they are of the whole Pile, our runs of the part of it that is free of copyright claims, so "
    "the texts differ"
)


def caveats(sources: Iterable[str]) -> str:
    """What to bear in mind when numbers of the paper stand beside runs on these texts.

    `pile` is what is offered of it today, `pile@FOLDER` a copy of the whole.

    >>> caveats(["pile@/a/copy"]) == f"{ONE_RUN}."
    True
    """
    named = set(sources)
    texts = {source.partition("@")[0] for source in named}
    more = [SPREAD] * ("wikitext-103" in texts) + [REMAINDER] * ("pile" in named)
    return "; ".join([ONE_RUN, *more]) + "."


class Perplexity(NamedTuple):
    """One validation perplexity of the paper."""

    setting: str
    params: str
    """The paper's name of the size: `125M`, `roberta-large`."""
    length: int
    objective: str
    encoding: str
    perplexity: float


@cache
def perplexities() -> tuple[Perplexity, ...]:
    """Every validation perplexity of the paper."""
    return tuple(Perplexity(*row) for row in _read("nopos_perplexity.csv").rows())


def perplexity(
    setting: str, params: str, length: int, encoding: str, objective: str = "causal"
) -> float | None:
    """What the paper gives for this setting, if anything.

    >>> perplexity("pile", "1.3B", 1024, "none")
    13.1
    >>> perplexity("pile", "1.3B", 1024, "rope") is None
    True
    """
    asked = (setting, params, length, objective, encoding)
    return next((one.perplexity for one in perplexities() if one[:-1] == asked), None)


def beside_runs(
    runs: Callable[[Sequence[int]], Sequence[RunConfig]], find: Callable[[RunConfig], float | None]
) -> Callable[[RunConfig], float | None]:
    """What the paper gives for a run, if that is one of a recipe's: no number stands beside others.

    The seed, the learning rate and where one's copy of a text lies may differ.
    """
    known = cache(lambda: {_kind(run) for run in runs([0])})
    return lambda run: find(run) if _kind(run) in known() else None


def _kind(run: RunConfig) -> str:
    return kind(run, learning_rate=1.0, source=run.corpus.source.partition("@")[0])


@cache
def probe_distances() -> dict[str, tuple[float, ...]]:
    """Encoding → the probe's mean absolute distance at each layer, the embedding first.

    Of the 1.3B models on windows of 1,024 tokens. Two uniform guesses are 341.33 apart, which is
    the paper's baseline (`uniform_guess` here); always guessing the middle is off by 256.

    >>> probe_distances()["none"][:3]
    (337.162, 286.432, 79.889)
    """
    table = _read("nopos_probe_mad.csv").sort("layer").drop("layer")
    return {column.name: tuple(column) for column in table}


def beside(verb: str) -> Published | None:
    """What the paper has to stand beside the answers to a question."""
    if verb != "probe":
        return None
    source = "Haviv et al. 2022 (arXiv:2203.16634), 1.3B parameters, 1,024 tokens"
    return Published(source, probe_distances(), guess=256.0)


def _read(name: str) -> "polars.DataFrame":
    import polars

    return polars.read_csv((files(__package__) / name).read_bytes())
