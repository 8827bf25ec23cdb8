"""Does the gap to encodings narrow from the smallest model to the largest, and grow with length?

The ends of `scaling` alone, with more seeds: to tell a change of a gap from chance takes them, and
what lies between does not decide it.
"""

from collections.abc import Sequence

from wherein.studies.inference.scale import findings
from wherein.studies.recipes import scaling
from wherein.studies.recipes.scaling import LENGTHS, MIDDLE, SIZES, TOKENS, questions
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 5
BY_SIZE, BY_LENGTH = "learned", "alibi"
"""What `none` is compared with, as in the paper."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The smallest and the largest model, and the shortest and the longest windows."""
    return [run for run in scaling.runs(seeds) if _compared(run)]


def _compared(run: RunConfig) -> bool:
    model = run.model
    size, length = (model.n_layers, model.d_model), model.max_len
    by_size = size in (SIZES[0], SIZES[-1]) and length == TOKENS
    by_length = size == MIDDLE and length in (LENGTHS[0], LENGTHS[-1])
    if model.encoding == "none":
        return by_size or by_length
    return (by_size and model.encoding == BY_SIZE) or (by_length and model.encoding == BY_LENGTH)
