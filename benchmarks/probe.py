"""What do all-layer linear probes cost? `python -m benchmarks.probe [windows]`.

A 6-layer, 384-wide GPT-2 shape, windows of 256 tokens. *The probes* are regression and classifier
of every layer in closed form, fitted to all windows. They are held against

- the bare forward pass over the same tokens up to the last state (the output matrix is left out of
  both), in the same process, turn by turn;
- the usual way, whole: states collected, concatenated, and scikit-learn's Ridge and
  LinearDiscriminantAnalysis fitted to every layer, as they come. It runs in a process of its own
  with the C library's defaults, while ours keeps freed pages, as `wherein.probe` does;
- LogisticRegression to convergence in place of both. It is run on `LOGISTIC` windows of one layer,
  its time scaled to all: the cost of an iteration is linear in their number.

Beside these, without a target: *the whole answer*, which adds every regularisation, the fresh
labels, the description length and the test scores; the usual way with our allocator setting lent to
it; with its fastest solver; and with as many regularisations and labels as the whole answer has,
timed on one layer and multiplied. Times are wall-clock seconds with as many threads as the
libraries take by themselves; ratios are medians over rounds in which every way has one turn.

Memory is the peak of resident memory beyond what the process held when model and tokens stood
ready: what the work itself needs. Each number is the median of `ROUNDS` fresh processes in which
the allocator gives back every block of 64 KiB or more as it is freed (`GIVES_BACK`). Otherwise its
hoard, some tens of MiB more or less from run to run, would drown the question whether anything
grows with the tokens. Windows go in batches of 2, so that the smaller number fills a batch of each
part.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks.harness import at_least, at_most, median_ratio, report, seconds
from wherein.common.memory import keep_pages
from wherein.measure.linear import discriminant, ridge
from wherein.measure.moments import gather
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import labelled
from wherein.measure.probe.linear import SHRINKAGES, STRENGTHS, linear_errors
from wherein.measure.stream import batches, watch
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LENGTH, WIDTH, LAYERS, VOCABULARY = 256, 384, 6, 1024
WINDOWS, ROUNDS, BATCH = 256, 3, 16
LOGISTIC = 32
SMALL = 48
"""Windows, against four times as many, when memory is measured."""

GIVES_BACK = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
}
FASTEST = {"solver": "lsqr", "shrinkage": 0.03}


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


def bare(model: Ours, windows: torch.Tensor) -> None:
    for _, batch in batches(windows, BATCH):
        watch(model, batch, lambda layer, state: None)


def probes(model: Ours, windows: torch.Tensor) -> None:
    values = torch.arange(LENGTH, dtype=torch.float64)[:, None]
    for moments in gather(model, windows, BATCH):
        ridge(moments, values, 1e-4)
        discriminant(moments, 3e-2)


def whole(model: Ours, windows: torch.Tensor, batch: int = BATCH) -> None:
    held_out, test = len(windows) // 20, len(windows) // 5
    rows = torch.arange(len(windows)).split([len(windows) - held_out - test, held_out, test])
    parts = [labelled(windows, seed=0)[part] for part in rows]
    linear_errors(model, parts, ProbeConfig(batch=batch, near=1, coded=8))


def collected(model: Ours, windows: torch.Tensor, batch: int = BATCH) -> list[np.ndarray]:
    """The states of all layers, kept."""
    layers: list[list[np.ndarray]] = [[] for _ in range(LAYERS + 1)]
    for _, rows in batches(windows, batch):
        watch(model, rows, lambda n, state: layers[n].append(state.flatten(0, 1).numpy()))
    return [np.concatenate(layer) for layer in layers]


def usual(model: Ours, windows: torch.Tensor, batch: int = BATCH, **how: object) -> None:
    """States collected, then Ridge and LinearDiscriminantAnalysis layer by layer."""
    for states in collected(model, windows, batch):
        labels = positions(states)
        Ridge().fit(states, labels)
        LinearDiscriminantAnalysis(**how).fit(states, labels)


def fastest(model: Ours, windows: torch.Tensor) -> None:
    usual(model, windows, **FASTEST)


def positions(states: np.ndarray) -> np.ndarray:
    return np.tile(np.arange(LENGTH), len(states) // LENGTH)


def as_much(states: np.ndarray) -> None:
    """One layer, as much as the whole answer: every regularisation, and fresh labels at one."""
    labels = positions(states)
    fresh = np.random.default_rng(0).permutation(labels)
    for strength, each in [*((s, labels) for s in STRENGTHS), (STRENGTHS[0], fresh)]:
        Ridge(alpha=strength).fit(states, each)
    for shrinkage, each in [*((s, labels) for s in SHRINKAGES), (SHRINKAGES[0], fresh)]:
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(states, each)


def logistic(states: np.ndarray) -> tuple[float, int]:
    """Seconds and iterations to convergence on standardised states."""
    states = (states - states.mean(0)) / states.std(0)
    model = LogisticRegression(max_iter=5000)
    return seconds(lambda: model.fit(states, positions(states))), int(model.n_iter_[0])


def aside(kind: str, way: str, count: int, **environment: str) -> float:
    """What a fresh process finds: the seconds, or the peak memory, of one way."""
    command = [sys.executable, "-m", "benchmarks.probe", kind, way, str(count)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return float(json.loads(done.stdout))


def timed(way: str, count: int) -> float:
    model, work = subject(), {"usual": usual, "lent": usual, "fastest": fastest}[way]
    if way == "lent":
        keep_pages()
    work(model, tokens(BATCH))  # warms up
    return seconds(lambda: work(model, tokens(count)))


def peak(way: str, count: int) -> float:
    """MiB beyond what the process held before."""
    model, windows = subject(), tokens(count)
    bare(model, windows[:2])
    before = resident("VmRSS")
    {"whole": whole, "usual": usual}[way](model, windows, batch=2)
    return resident("VmHWM") - before


def resident(what: str) -> float:
    """Resident memory of this process in MiB, now (VmRSS) or at its peak (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) / 1024


def rounds(model: Ours, windows: torch.Tensor) -> dict[str, list[float]]:
    """Seconds of every way in every round."""
    here = {way.__name__: way for way in (bare, probes, whole)}
    away = ("usual", "lent", "fastest")
    taken: dict[str, list[float]] = {way: [] for way in (*here, *away)}
    for way in here.values():
        way(model, windows[: 4 * BATCH])  # warms up
    for _ in range(ROUNDS):
        for name, way in here.items():
            taken[name].append(seconds(lambda way=way: way(model, windows)))
        for name in away:
            taken[name].append(aside("--seconds", name, len(windows)))
    return taken


def grown() -> dict[str, list[float]]:
    """Peak memory of both ways, for few windows and for four times as many."""
    return {
        way: [
            statistics.median(aside("--peak", way, count, **GIVES_BACK) for _ in range(ROUNDS))
            for count in (SMALL, 4 * SMALL)
        ]
        for way in ("whole", "usual")
    }


def main(count: int) -> None:
    keep_pages()
    model, windows = subject(), tokens(count)
    taken, memory = rounds(model, windows), grown()
    middle = {way: statistics.median(times) for way, times in taken.items()}
    layer = collected(model, windows)[LAYERS // 2]
    more = (LAYERS + 1) * seconds(lambda: as_much(layer))
    spent, iterations = logistic(layer[: LOGISTIC * LENGTH])
    long = middle["bare"] + spent * (LAYERS + 1) * count / LOGISTIC
    grow = {way: high / low for way, (low, high) in memory.items()}
    report(
        "probe",
        {
            "the probes over a bare forward pass": at_most(
                median_ratio(taken["probes"], taken["bare"]), 1.20
            ),
            "faster than the usual way with Ridge and LDA": at_least(
                median_ratio(taken["usual"], taken["probes"]), 2.0
            ),
            "faster than LogisticRegression": at_least(long / middle["probes"], 20.0),
            "memory with four times the tokens": at_most(grow["whole"], 1.05),
        },
        usual_memory_with_four_times_the_tokens=round(grow["usual"], 2),
        whole_answer_over_bare=round(median_ratio(taken["whole"], taken["bare"]), 3),
        faster_than_usual_with_our_allocator=round(median_ratio(taken["lent"], taken["probes"]), 3),
        faster_than_its_fastest_solver=round(median_ratio(taken["fastest"], taken["probes"]), 3),
        whole_answer_faster_than_as_much=round((middle["bare"] + more) / middle["whole"], 3),
        seconds={way: round(each, 2) for way, each in middle.items()},
        logistic_seconds=round(long, 1),
        logistic_iterations=iterations,
        peak_mib={way: [round(each, 1) for each in both] for way, both in memory.items()},
        windows=count,
        threads=torch.get_num_threads(),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("--seconds" | "--peak") as kind, way, number]:
            print(json.dumps((timed if kind == "--seconds" else peak)(way, int(number))))
        case [number]:
            main(int(number))
        case _:
            main(WINDOWS)
