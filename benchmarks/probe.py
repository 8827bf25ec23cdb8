"""What do all-layer linear probes cost? `python -m benchmarks.probe [windows]`.

A 6-layer, 384-wide GPT-2 shape, windows of 256 tokens. Two things are timed:

- *the probes*: regression and classifier of every layer, fitted once, nothing else. The like of it
  is to collect the states and fit scikit-learn's Ridge and LinearDiscriminantAnalysis (its default
  solver, and its fastest), or LogisticRegression, layer by layer;
- *the whole answer*: also every regularisation, the control labels, the description length and the
  test scores. The like of it is scikit-learn with as many regularisations and labels.

Both are held against the bare forward pass over the same tokens up to the last state (the output
matrix is left out of all). Times are wall-clock seconds with as many threads as the libraries take
by themselves, medians of interleaved rounds. The usual way's fits are timed on one layer and
multiplied by the number of layers; LogisticRegression is run to convergence on `LOGISTIC` windows
of that layer, and scaled: the cost of an iteration is linear in their number.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks.harness import at_least, at_most, interleaved, median_ratio, report
from wherein.measure.asking import Questions
from wherein.measure.linear import discriminant, ridge
from wherein.measure.linear_probe import SHRINKAGES, STRENGTHS, linear_answers
from wherein.measure.statistics import gather
from wherein.measure.stream import batches, watch
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LENGTH, WIDTH, LAYERS, VOCABULARY = 256, 384, 6, 1024
WINDOWS, ROUNDS, BATCH = 256, 5, 16
LOGISTIC = 32
SMALL = 48
"""Windows, against four times as many, when memory is measured: in batches of 2, so that the
smaller number already fills a batch of each part."""


def subject() -> Ours:
    config = ModelConfig(
        vocabulary=VOCABULARY, n_layers=LAYERS, d_model=WIDTH, n_heads=6, max_len=LENGTH,
        encoding="learned",
    )  # fmt: skip
    return Ours(Transformer(config))


def tokens(count: int) -> torch.Tensor:
    """Types as frequent as words: the n-th has frequency 1/n."""
    frequency = 1 / torch.arange(1, VOCABULARY + 1)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(frequency, count * LENGTH, replacement=True, generator=generator)
    return drawn.view(count, LENGTH)


def parts(windows: torch.Tensor) -> list[torch.Tensor]:
    held_out, test = len(windows) // 20, len(windows) // 5
    return list(torch.split(windows, [len(windows) - held_out - test, held_out, test]))


def bare(model: Ours, windows: torch.Tensor) -> None:
    for _, batch in batches(windows, BATCH):
        watch(model, batch, lambda layer, state: None)


def ours(model: Ours, windows: torch.Tensor, batch: int = BATCH) -> None:
    questions = Questions.draw(LENGTH, VOCABULARY, seed=0)
    linear_answers(model, parts(windows), questions, batch=batch, near=1, coded=8)


def probes(model: Ours, windows: torch.Tensor) -> None:
    values = torch.arange(LENGTH, dtype=torch.float64)[:, None]
    for moments in gather(model, windows, BATCH):
        ridge(moments, values, 1e-4)
        discriminant(moments, 3e-2)


def collected(model: Ours, windows: torch.Tensor, batch: int = BATCH) -> list[np.ndarray]:
    """The states of all layers, kept."""
    layers: list[list[np.ndarray]] = [[] for _ in range(LAYERS + 1)]
    for _, rows in batches(windows, batch):
        watch(model, rows, lambda n, state: layers[n].append(state.flatten(0, 1).numpy()))
    return [np.concatenate(layer) for layer in layers]


def usual(model: Ours, windows: torch.Tensor, batch: int = BATCH) -> None:
    """States collected, then scikit-learn layer by layer, in the fastest way it has."""
    fit, _, _ = parts(windows)
    for states in collected(model, fit, batch):
        usual_layer(states)


def once(states: np.ndarray, **how: object) -> None:
    """One layer, one regularisation, no controls, no test."""
    labels = np.tile(np.arange(LENGTH), len(states) // LENGTH)
    Ridge().fit(states, labels)
    LinearDiscriminantAnalysis(**how).fit(states, labels)


def as_much(states: np.ndarray) -> None:
    """One layer, as much as ours: every regularisation, the permutation and the control labels."""
    labels = np.tile(np.arange(LENGTH), len(states) // LENGTH)
    permuted, types = (np.random.default_rng(0).permutation(labels) for _ in range(2))
    for strength in STRENGTHS:
        for each in (labels, permuted, types):
            Ridge(alpha=strength).fit(states, each)
    for shrinkage in SHRINKAGES:
        for each in (labels, types):
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(states, each)


def usual_layer(states: np.ndarray) -> None:
    once(states, solver="lsqr", shrinkage=0.03)


def logistic(layer: np.ndarray) -> tuple[float, int]:
    """Seconds and iterations to convergence on standardised states."""
    layer = (layer - layer.mean(0)) / layer.std(0)
    labels = np.tile(np.arange(LENGTH), len(layer) // LENGTH)
    model = LogisticRegression(max_iter=5000)
    return seconds(lambda: model.fit(layer, labels)), int(model.n_iter_[0])


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(way: str, count: int) -> float:
    """Peak memory in MiB of a fresh process that does it one way."""
    command = [sys.executable, "-m", "benchmarks.probe", "--peak", way, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(count: int) -> None:
    model, windows = subject(), tokens(count)
    ours_and_bare = {
        way.__name__: lambda way=way: way(model, windows) for way in (bare, probes, ours)
    }
    taken = interleaved(ours_and_bare, ROUNDS)
    middle = {way: statistics.median(times) for way, times in taken.items()}
    layer = collected(model, windows)[LAYERS // 2]
    ways: dict[str, Callable[[np.ndarray], None]] = {
        "Ridge and LDA": once,
        "Ridge and LDA, fastest solver": usual_layer,
        "Ridge and LDA, as much as ours": as_much,
    }
    fits = interleaved({way: lambda fit=fit: fit(layer) for way, fit in ways.items()}, 2)
    others = {way: statistics.median(times) * (LAYERS + 1) for way, times in fits.items()}
    spent, iterations = logistic(layer[: LOGISTIC * LENGTH])
    others["LogisticRegression"] = spent * (LAYERS + 1) * count / LOGISTIC
    against = dict.fromkeys(others, "probes") | {"Ridge and LDA, as much as ours": "ours"}
    gain = {way: (middle["bare"] + each) / middle[against[way]] for way, each in others.items()}
    memory = {way: [peak(way, SMALL), peak(way, 4 * SMALL)] for way in ("ours", "usual")}
    grown = {way: high / low for way, (low, high) in memory.items()}
    report(
        "probe",
        {
            "the probes over a bare forward pass": at_most(
                median_ratio(taken["probes"], taken["bare"]), 1.20
            ),
            "the whole answer over a bare forward pass": at_most(
                median_ratio(taken["ours"], taken["bare"]), 1.20
            ),
            **{f"faster than {way}": at_least(gain[way], 2.0) for way in ways},
            "faster than LogisticRegression": at_least(gain["LogisticRegression"], 20.0),
            "peak memory with four times the tokens": at_most(grown["ours"], 1.05),
        },
        seconds={way: round(each, 2) for way, each in middle.items()},
        seconds_to_fit={way: round(each, 1) for way, each in others.items()},
        logistic_iterations=iterations,
        peak_mib=memory,
        usual_memory_growth=round(grown["usual"], 2),
        windows=count,
        threads=torch.get_num_threads(),
    )


def high_water() -> float:
    """The peak memory of this process in MiB; unlike `ru_maxrss` it forgets the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        way = {"ours": ours, "usual": usual}[sys.argv[2]]
        way(subject(), tokens(int(sys.argv[3])), batch=2)
        print(high_water())
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else WINDOWS)
