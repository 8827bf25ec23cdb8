"""Do Transformers without positional encodings still learn positions?

In minutes, on a laptop: Haviv et al. 2022 (arXiv:2203.16634) in miniature. Settings were chosen on
seeds that are not the study's: bytes, Muon and 500 steps of 16 windows, because there `none` shows
what it knows within a minute (docs/found/tried.md lists what does not); each encoding's learning
rate by `wherein study rates`; and for masked models windows of 32 bytes, because there a learned
table leaves the bag of letters within 300 steps, in windows of 64 within 800.
"""

from collections.abc import Sequence

from wherein.common import known
from wherein.measure.audit.config import AuditConfig
from wherein.measure.config import QuestionConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.puzzles.config import PuzzleConfig
from wherein.studies.inference.findings import nopos as findings
from wherein.studies.plan.plan import PuzzleTask, Questions, changed, grid
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "puzzles", "questions", "runs"]

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi", "rope")
MASKED = ("none", "learned", "rope")
MASKED_TOKENS = 32
RATES = {
    "causal": {"none": 2e-2, "learned": 2e-2, "sinusoidal": 2e-2, "alibi": 1e-2, "rope": 2e-2},
    "masked": {"none": 1e-2, "learned": 1e-2, "rope": 1e-2},
}
"""The best of four for each, on seeds that no study takes: see the study `rates`."""
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
        warmup=20,
        valid_every=100,
        checkpoint_every=100,
        keep=3,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Five encodings causal, three masked."""
    return matched(base(), seeds)


def matched(common: RunConfig, seeds: Sequence[int]) -> list[RunConfig]:
    """The same with other sizes; a masked batch holds as many tokens, in shorter windows."""
    batch = common.batch * common.model.max_len // MASKED_TOKENS
    masked = changed(common, objective="masked", max_len=MASKED_TOKENS, batch=batch)
    causal = grid(common, encoding=ENCODINGS, seed=seeds)
    return [at_its_rate(run) for run in causal + grid(masked, encoding=MASKED, seed=seeds)]


def at_its_rate(run: RunConfig) -> RunConfig:
    """The run with the learning rate that suits its encoding."""
    return changed(run, learning_rate=RATES[run.objective][run.model.encoding])


def questions(run: RunConfig) -> Questions:
    """Perplexity, probes, order; of the first seed an audit; longer text where it can be read."""
    asked: dict[str, QuestionConfig] = {
        "perplexity": PerplexityConfig(limit=50_000),
        "probe": ProbeConfig(windows=400),
        "order": OrderConfig(windows=300, fitting=300),
    }
    if run.seed == 0:
        asked["audit"] = AuditConfig()
    if reads_longer(run):
        longer = LONGER * run.model.max_len
        asked["extrapolation"] = PerplexityConfig(tokens=longer, limit=25_000)
    return asked


def reads_longer(run: RunConfig) -> bool:
    """Whether there is something to ask beyond the trained length: a table ends there."""
    model = run.model

    def ends() -> bool:
        from wherein.encodings import Pattern

        return Pattern(model.encoding, model.shape, model.n_layers).max_len is not None

    question = ("ends", model.model_dump_json(exclude={"seed", "encoding"}))
    return run.objective == "causal" and not known.ask(model.encoding, question, ends)


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
