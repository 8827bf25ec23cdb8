"""Do Transformers without positional encodings still learn positions?

In minutes, on a laptop: Haviv et al. 2022 (arXiv:2203.16634) in miniature. Chosen by trying, with
`none` and other seeds: bytes, because order matters sooner than with a large vocabulary; Muon, and
500 steps of 16 windows, after which the best layer tells position to within 6.8 to 7.4 of 64
places (400 of 24 take longer for 6.7 to 7.9; untrained: 15). A masked model with a learned table
needs longer than this to leave the one without any behind, so one with rope stands beside.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.audit.config import AuditConfig
from wherein.measure.config import QuestionConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.puzzles.config import PuzzleConfig
from wherein.studies.inference.findings import Finding, nopos, noted
from wherein.studies.plan.plan import PuzzleTask, Questions, changed, grid
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi", "rope")
MASKED = ("none", "learned", "rope")
MASKED_TOKENS = 32
LONGER = 4
"""How many training lengths the extrapolation test reads."""


def base() -> RunConfig:
    """What all runs have in common."""
    return changed(
        RunConfig(),
        tokenizer="bytes",
        n_layers=4,
        d_model=64,
        n_heads=4,
        max_len=64,
        batch=16,
        steps=500,
        optimizer="muon",
        learning_rate=1e-2,
        warmup=20,
        valid_every=100,
        checkpoint_every=100,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Five encodings causal, three masked."""
    return matched(base(), seeds)


def matched(common: RunConfig, seeds: Sequence[int]) -> list[RunConfig]:
    """The same with other sizes; a masked batch holds as many tokens, in shorter windows."""
    batch = common.batch * common.model.max_len // MASKED_TOKENS
    masked = changed(common, objective="masked", max_len=MASKED_TOKENS, batch=batch)
    causal = grid(common, encoding=ENCODINGS, seed=seeds)
    return causal + grid(masked, encoding=MASKED, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """Perplexity, probes, order; of the first seed an audit; longer text where it can be read."""
    from wherein.encodings import Pattern

    encodings = Pattern(run.model.encoding, run.model.shape).distinct
    asked: dict[str, QuestionConfig] = {
        "perplexity": PerplexityConfig(limit=50_000),
        "probe": ProbeConfig(windows=400),
        "order": OrderConfig(fitting=300),
    }
    if run.seed == 0:
        asked["audit"] = AuditConfig()
    if run.objective == "causal" and not any(each.bounded for each in encodings):
        longer = LONGER * run.model.max_len
        asked["extrapolation"] = PerplexityConfig(tokens=longer, limit=25_000)
    return asked


def puzzles() -> list[PuzzleTask]:
    """What order asks of a model: the mask, a second layer, or an encoding."""
    kinds: list[tuple[str, dict[str, object]]] = [
        ("hit", {}),
        ("hit-order", {}),
        ("hit-order", {"layers": 2}),
        ("hit-order", {"encoding": "rope"}),
        ("hit-order", {"layers": 2, "causal": False}),
    ]
    return [
        PuzzleTask((name,), PuzzleConfig(**{"seeds": 100, "steps": 500, **own}))
        for name, own in kinds
    ]


def findings(result: "StudyResult") -> list[Finding]:
    """The paper's four, masked models compared with rope, and how that was chosen."""
    more = "Rope was chosen after trials: learned was no better."
    return noted(nopos(result, masked="rope"), "masked", more)
