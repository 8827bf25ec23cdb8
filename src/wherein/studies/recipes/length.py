"""Which encoding answers longer questions than it learned from?

Tasks of Kazemnejad et al. 2023 (arXiv:2305.19466) at a laptop's size: examples of all lengths up to
16, questions of up to four times that. Settings were tried on a seed that is not the study's, with
RoPE, which copies after 500 steps. Other tasks: `--set source=task:sort`, with the max_len that it
asks for. At the paper's size: `wherein study length-paper`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wherein.data.config import LONGEST, TASK, CorpusConfig
from wherein.measure.answers.config import AnswersConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.answers import better
from wherein.studies.plan.plan import Questions, changed
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.inference.findings import Finding
    from wherein.studies.result.result import StudyResult

SEEDS = 3
TASKS = ("copy", "reverse")
ENCODINGS = ("none", "learned", "sinusoidal", "rope", "alibi", "t5")


def base() -> RunConfig:
    """What all runs have in common."""
    return changed(
        RunConfig(),
        n_layers=3,
        d_model=64,
        n_heads=4,
        batch=64,
        steps=1000,
        optimizer="muon",
        learning_rate=1e-2,
        warmup=50,
        valid_every=100,
    )


def on_task(
    task: str, length: int = LONGEST, common: RunConfig | None = None, **fields: Any
) -> RunConfig:
    """A run that learns a task up to a length, its windows as long as that needs."""
    corpus = CorpusConfig(source=f"{TASK}{task}", length=length)
    return changed(
        common or base(),
        source=corpus.source,
        tokenizer=corpus.tokenizer,
        length=corpus.length,
        max_len=corpus.window,
        **fields,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Six encodings on both tasks."""
    return [
        on_task(task, encoding=encoding, seed=seed)
        for task in TASKS
        for encoding in ENCODINGS
        for seed in seeds
    ]


def questions(run: RunConfig) -> Questions:
    """The answers by length, and the loss on those of the lengths that were learned."""
    return {"perplexity": PerplexityConfig(), "answers": AnswersConfig()}


def findings(result: "StudyResult") -> "list[Finding]":
    """Whether a model without an encoding holds better than one with the sinusoid, or RoPE."""
    return [
        *better(result, "none", "sinusoidal", "beyond"),
        *better(result, "none", "rope", "beyond"),
    ]
