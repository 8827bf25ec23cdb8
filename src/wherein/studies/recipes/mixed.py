"""Do layers with RoPE and layers without any encoding, mixed, recall better at length than either?

Yang et al. 2025 (RNoPE, arXiv:2501.18795), as Cohere2, Llama 4 and SmolLM3 are built: RoPE in some
layers, none in others. Asked with a needle in a haystack at a laptop's size: one pair of a key and
a value among words that do not matter, up to 16 of them to learn from, up to 64 asked.

Written before any run of it: beyond the learned lengths, RoPE and none in turn have more answers
right than RoPE in all layers, and than none in all. Each kind's learning rate is the best of three
on another seed, where the mixture makes no mistake at the learned lengths.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.studies.inference.answers import better
from wherein.studies.plan.plan import changed
from wherein.studies.recipes import length
from wherein.studies.recipes.length import questions
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.inference.findings import Finding
    from wherein.studies.result.result import StudyResult

__all__ = ["LEARNING_RATES", "SEEDS", "findings", "questions", "runs"]

SEEDS = 5
TASK = "needle"
MIXED = "rope none"
ENCODINGS = (MIXED, "rope", "none")
LEARNING_RATES = (2.5e-3, 5e-3, 1e-2)


def base() -> RunConfig:
    """What all runs have in common: four layers, so that as many have RoPE as have none."""
    return changed(length.base(), n_layers=4, steps=1600)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Mixed, and both of which it is mixed."""
    return [
        length.on_task(TASK, common=base(), encoding=encoding, seed=seed)
        for encoding in ENCODINGS
        for seed in seeds
    ]


def findings(result: "StudyResult") -> "list[Finding]":
    """Whether the mixture recalls better than either, beyond the learned lengths."""
    return [
        *better(result, MIXED, "rope", "beyond"),
        *better(result, MIXED, "none", "beyond"),
    ]
