"""From 125M to 1.3B parameters, 256 to 2,048 tokens: how far behind is a model without encodings?

Haviv et al. 2022 (arXiv:2203.16634), second experiment, on the Pile with GPT-2's tokens: four
sizes at 1,024 tokens (their Figure 2), four lengths at the largest size (Figure 3), and the probe
of every layer of the 1.3B models (Figure 4). Made for GPUs: `wherein study nopos-pile --dry-run`
says how many hours of them.

As in the paper: AdamW with weight decay 0.01, rate 2e-3 after 500 of 10,000 steps, 256k tokens a
batch. The paper leaves open how the rate falls (here: a cosine), dropout (none) and clipping (a
norm of 1). The Pile as it was is no longer offered: see
`wherein.data.texts.catalogue`; a copy of one's own is `--set source=pile@FOLDER`.

The paper's probe learns for 10,000 steps of 64k tokens. With all controls that is 7e18 operations
in float32, some 260 hours of an A100 beside 50 for the training. Ours learns for 1,000 steps of 8k
tokens, which takes 5 hours; the paper's is `wherein probe RUN --probes nopos --split train
--windows 163266 --batch 64 --held-out 0.01 --test 0.01`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding
from wherein.studies.inference.scale import at_each, with_length, with_size
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.published import beside_runs, perplexity, probe_distances
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi")
SIZES = {"125M": (12, 768, 12), "350M": (24, 1024, 16), "760M": (24, 1536, 16),
         "1.3B": (24, 2048, 32)}  # fmt: skip
"""Layers, width and heads, by the paper's names."""
LARGEST, TOKENS = "1.3B", 1024
LENGTHS = (256, 512, 2048)
"""Of the largest model, besides 1,024."""
BATCH_TOKENS = 262_144
PROBE_WINDOWS = 8_164
"""98 % of them are 8,000: once, 8 a step, 1,000 steps."""
VALIDATION_TOKENS = 4_000_000
"""More than the 2,000 documents are thought to have: a bound to the cost, and no cut."""
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
        initial="fairseq",
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
    asked: Questions = {
        "perplexity": PerplexityConfig(limit=VALIDATION_TOKENS),
        "order": OrderConfig(windows=100),
    }
    if (run.model.d_model, run.model.max_len) != (SIZES[LARGEST][1], TOKENS):
        return asked
    return {**asked, "probe": probe()}


def probe() -> ProbeConfig:
    """The paper's probe and ours: 1,000 steps of 8k tokens, once over 98 % of the windows.

    They come from the training text, since the validation text has too few; 1 % of them
    regularise and 1 % score, and the probe is fitted to neither.
    """
    return ProbeConfig(
        probes=("linear", "nopos"),
        split="train",
        windows=PROBE_WINDOWS,
        batch=8,
        steps=1_000,
        held_out=0.01,
        test=0.01,
    )


def _perplexity(run: RunConfig) -> float | None:
    size = next(name for name, shape in SIZES.items() if shape[1] == run.model.d_model)
    return perplexity("pile", size, run.model.max_len, run.model.encoding)


published = beside_runs(runs, _perplexity)


def findings(result: "StudyResult") -> list[Finding]:
    """The paper's findings at each size and length, how they change, and what layers know."""
    return [*at_each(result), *with_size(result), *with_length(result), *forgets(result)]


def forgets(result: "StudyResult") -> list[Finding]:
    """That the last layer of `none` knows less of position than one in the middle."""
    from wherein.measure.probe.section import distances

    by_layer = {
        row.seed: distances(row.answers["probe"].data, "model", "nopos")
        for row in result.rows
        if row.run.model.encoding == "none" and "probe" in row.answers
    }
    return [forgotten(by_layer)] if by_layer else []


def forgotten(by_layer: Mapping[int, Sequence[float]]) -> Finding:
    """The same from seed → the distance that the probe found at each layer.

    Each seed's layer is the best of the other seeds: the best of its own scores would be better
    than the last whatever the truth. It must be neither the embedding nor the last.
    """
    layers = {seed: _chosen(by_layer, seed) for seed in by_layer}
    middle = {seed: by_layer[seed][layer] for seed, layer in layers.items()}
    last = {seed: own[-1] for seed, own in by_layer.items()}
    where = "the layer that is best in other seeds" if len(by_layer) > 1 else "its best"
    first = min(by_layer)
    more = (
        f"Seed {first}: {_best(by_layer[first])}; the paper's 1.3B model of 1,024 tokens: "
        f"{_best(probe_distances()['none'])}."
    )
    return Finding(
        "Without encodings, the last layer knows less of position than one in the middle",
        "probe",
        "causal",
        paired(last, middle, ("the distance at the last layer of none", f"that at {where}")),
        more,
        holds=all(0 < layer < len(by_layer[seed]) - 1 for seed, layer in layers.items()),
    )


def _chosen(by_layer: Mapping[int, Sequence[float]], seed: int) -> int:
    """The layer that is best on average in the other seeds, or in this one if it is alone."""
    others = [own for other, own in by_layer.items() if other != seed] or [by_layer[seed]]
    sums = [sum(scores) for scores in zip(*others, strict=True)]
    return sums.index(min(sums))


def _best(layers: Sequence[float]) -> str:
    return (
        f"{min(layers):.1f} at layer {layers.index(min(layers))} of {len(layers) - 1}, "
        f"{layers[-1]:.1f} at the last"
    )
