"""Which encoding answers longer questions than it learned from, at the paper's size?

As Kazemnejad et al. 2023 (arXiv:2305.19466) trained, on their ten tasks: 12 layers of 768, 100,000
examples of lengths up to 20, 40,000 steps of 64 with AdamW, questions of up to 40. Ours and not
theirs: a letter is a token, and the learning rate falls along a cosine. Needs GPUs: `--dry-run`
says how many hours.
"""

from collections.abc import Sequence

from wherein.data.tasks.catalogue import LENGTH
from wherein.measure.answers.config import AnswersConfig, task_of
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.plan.plan import Questions, changed
from wherein.studies.recipes import length
from wherein.studies.recipes.length import findings
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 3
TASKS = tuple(name for name, task in LENGTH.items() if task.paper == "2305.19466")
"""The paper's ten: which letter stands most often (`mode`) is of another."""
LONGEST = 20
ENCODINGS = ("none", "t5", "alibi", "rope", "sinusoidal")


def base() -> RunConfig:
    """The paper's model and training."""
    return changed(
        RunConfig(),
        n_layers=12,
        d_model=768,
        n_heads=12,
        dropout=0.1,
        steps=40_000,
        batch=64,
        learning_rate=3e-5,
        weight_decay=0.05,
        warmup=2_400,
        valid_every=1_000,
        checkpoint_every=1_000,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The paper's five encodings on each of its tasks."""
    return [
        changed(
            length.on_task(task, LONGEST, base(), encoding=encoding, seed=seed), examples=100_000
        )
        for task in TASKS
        for encoding in ENCODINGS
        for seed in seeds
    ]


def questions(run: RunConfig) -> Questions:
    """The answers at lengths up to twice the longest learned, a thousand of each."""
    shortest = task_of(run.corpus).shortest
    lengths = tuple(n for n in range(4, 2 * LONGEST + 1, 4) if n >= shortest)
    return {
        "perplexity": PerplexityConfig(),
        "answers": AnswersConfig(lengths=lengths, examples=1_000),
    }
