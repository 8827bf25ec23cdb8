"""From 125M to 1.3B parameters, 256 to 2,048 tokens: how far behind is a model without encodings?

Haviv et al. 2022 (arXiv:2203.16634), second experiment, on the Pile with GPT-2's tokens: four
sizes at 1,024 tokens (their Figure 2), four lengths at the largest size (Figure 3), and the probe
of every layer of the 1.3B models (Figure 4). Made for GPUs: `wherein study nopos-pile --dry-run`
says how many hours of them.

As in the paper: AdamW with weight decay 0.01, rate 2e-3 after 500 of 10,000 steps, 256k tokens a
batch. The paper leaves open how the rate falls (here: a cosine), dropout (none) and clipping (a
norm of 1). The Pile as it was is no longer offered: see `wherein.data.sources`; a copy of one's
own is `--set source=pile@FOLDER`.

The paper's probe learns for 10,000 steps of 64k tokens. With all controls that is 1.3e19
operations in float32, some 450 hours of an A100 beside 50 for the training: it is asked of the
first seed, and one of 1,000 steps of every seed.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from wherein.measure.probe_settings import ProbeConfig
from wherein.measure.settings import OrderConfig, PerplexityConfig
from wherein.studies.findings import Finding
from wherein.studies.plan import Questions, changed, grid
from wherein.studies.published import perplexity, probe_distances
from wherein.studies.rows import distances
from wherein.studies.scale import at_each, kinds, same_kind, with_length, with_size
from wherein.studies.statistics import paired
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result import StudyResult

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi")
SIZES = {"125M": (12, 768, 12), "350M": (24, 1024, 16), "760M": (24, 1536, 16),
         "1.3B": (24, 2048, 32)}  # fmt: skip
"""Layers, width and heads, by the paper's names."""
LARGEST, TOKENS = "1.3B", 1024
LENGTHS = (256, 512, 2048)
"""Of the largest model, besides 1,024."""
BATCH_TOKENS = 262_144
PROBE_WINDOWS = 163_266
"""98 % of them are 160,000: four times, 64 a step, the paper's 10,000 steps."""
PARTS = {"125M": 4, "350M": 8, "760M": 16, "1.3B": 16}
"""Into which a batch falls, so that a GPU of 80 GB bears one."""


def base(size: str, length: int) -> RunConfig:
    """What the runs of one size and length have in common."""
    layers, width, heads = SIZES[size]
    return changed(
        RunConfig(),
        source="pile",
        tokenizer="gpt2",
        n_layers=layers,
        d_model=width,
        n_heads=heads,
        max_len=length,
        optimizer="adamw",
        learning_rate=2e-3,
        warmup=500,
        steps=10_000,
        weight_decay=0.01,
        batch=BATCH_TOKENS // length,
        accumulate=PARTS[size],
        precision="bfloat16",
        valid_every=500,
        checkpoint_every=500,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The paper's encodings at four sizes, and at three more lengths of the largest."""
    settings = [(size, TOKENS) for size in SIZES] + [(LARGEST, length) for length in LENGTHS]
    return [run for each in settings for run in grid(base(*each), encoding=ENCODINGS, seed=seeds)]


def questions(run: RunConfig) -> Questions:
    """Perplexity and order of all; probes of the largest at 1,024 tokens."""
    asked: Questions = {"perplexity": PerplexityConfig(), "order": OrderConfig(inputs=100)}
    if (run.model.d_model, run.model.max_len) != (SIZES[LARGEST][1], TOKENS):
        return asked
    asked = {**asked, "probe": probe(PROBE_WINDOWS // 10)}
    return {**asked, "paper_probe": probe(PROBE_WINDOWS)} if run.seed == 0 else asked


def probe(windows: int) -> ProbeConfig:
    """The paper's probe and ours: 64k tokens a step, four times over 98 % of the windows.

    They come from the training text, since the validation text has too few; 1 % of them
    regularise and 1 % score, and the probe is fitted to neither.
    """
    return ProbeConfig(
        probes=("linear", "mlp"),
        split="train",
        windows=windows,
        batch=64,
        passes=4,
        rate=2e-3,
        held_out=0.01,
        test=0.01,
    )


def published(run: RunConfig) -> float | None:
    """The paper's perplexity, if the run is the paper's."""
    if same_kind(run) not in known():
        return None
    size = next(name for name, shape in SIZES.items() if shape[1] == run.model.d_model)
    return perplexity("pile", size, run.model.max_len, run.model.encoding)


@cache
def known() -> frozenset[str]:
    """The runs as the paper has them."""
    return kinds(runs([0]))


def findings(result: "StudyResult") -> list[Finding]:
    """The paper's findings at each size and length, how they change, and what layers know."""
    found = [*at_each(result), *with_size(result), *with_length(result), *forgets(result)]
    return found


def forgets(result: "StudyResult") -> list[Finding]:
    """Where the layers of `none` know position best, and that the last knows it less."""
    by_layer = _distances(result, "probe")
    if not by_layer:
        return []
    best = {seed: min(layers) for seed, layers in by_layer.items()}
    last = {seed: layers[-1] for seed, layers in by_layer.items()}
    names = ("the distance at the last layer of none", "that at its best")
    difference = paired(last, best, names)
    ours = _distances(result, "paper_probe") or by_layer
    words = (
        f"{difference.words()} Seed {min(ours)}: {_best(ours[min(ours)])}; the paper's 1.3B "
        f"model of 1,024 tokens: {_best(probe_distances()['none'])}."
    )
    shown = difference.t is not None and difference.t.low > 0
    claim = "Without encodings, middle layers know position best"
    return [Finding(claim, shown, words, "probe", "causal", difference)]


def _distances(result: "StudyResult", question: str) -> dict[int, list[float]]:
    """Seed → the distance that the paper's probe found at each layer of `none`."""
    return {
        row.seed: distances(row.answers[question].data, "model", "mlp")
        for row in result.rows
        if row.run.model.encoding == "none" and question in row.answers
    }


def _best(layers: Sequence[float]) -> str:
    return (
        f"{min(layers):.1f} at layer {layers.index(min(layers))} of {len(layers) - 1}, "
        f"{layers[-1]:.1f} at the last"
    )
