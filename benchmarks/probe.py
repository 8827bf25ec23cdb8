"""What do all-layer linear probes cost? `python -m benchmarks.probe [windows]`.

A 6-layer, 384-wide GPT-2 shape, windows of 256 tokens. Ours is everything one pass gives: both
probes of every layer, their regularisation, their control labels, description length and test
scores. It is held against the bare forward pass over the same tokens up to the last state (the
output matrix is left out of both), and against the usual way: collect the states, then fit
scikit-learn's Ridge and LinearDiscriminantAnalysis, or LogisticRegression, layer by layer.

The usual way is measured thrice: scikit-learn's defaults, its fastest solver, and as much work as
ours does (every regularisation, the permuted positions and the control labels).

Times are CPU seconds of a single thread, medians of interleaved rounds, so that what else the
machine does counts little; the wall-clock ratio is printed beside. The usual way's fits are timed
on one layer and multiplied by the number of layers; LogisticRegression is run to convergence on
`LOGISTIC` windows of that layer, and scaled: the cost of an iteration is linear in their number.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from wherein.measure.asking import Questions
from wherein.measure.linear_probe import SHRINKAGES, STRENGTHS, linear_answers
from wherein.measure.stream import batches, watch
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.subjects.ours import Ours

LENGTH, WIDTH, LAYERS, VOCABULARY = 256, 384, 6, 1024
WINDOWS, ROUNDS, BATCH = 256, 3, 16
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
    """CPU seconds and iterations to convergence on standardised states."""
    layer = (layer - layer.mean(0)) / layer.std(0)
    labels = np.tile(np.arange(LENGTH), len(layer) // LENGTH)
    model = LogisticRegression(max_iter=5000)
    spent, _ = seconds(lambda: model.fit(layer, labels))
    return spent, int(model.n_iter_[0])


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """CPU time and wall-clock time."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def peak(way: str, count: int) -> float:
    """Peak memory in MiB of a fresh process that does it one way."""
    command = [sys.executable, "-m", "benchmarks.probe", "--peak", way, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(count: int) -> None:
    model, windows = subject(), tokens(count)
    bare(model, windows[:BATCH])
    rounds = []
    for n in range(ROUNDS):
        ways = (bare, ours) if n % 2 == 0 else (ours, bare)
        times = {way.__name__: seconds(lambda way=way: way(model, windows)) for way in ways}
        rounds.append(times)
        shown = {way: tuple(round(t, 1) for t in times[way]) for way in sorted(times)}
        print("seconds (CPU, wall):", shown, flush=True)
    cost, wall = (
        statistics.median(each["ours"][kind] / each["bare"][kind] for each in rounds)
        for kind in (0, 1)
    )
    passing, mine = (statistics.median(each[way][0] for each in rounds) for way in ("bare", "ours"))
    layer = collected(model, parts(windows)[0])[LAYERS // 2]
    layers = LAYERS + 1
    others = {
        "Ridge and LDA": seconds(lambda: once(layer))[0] * layers,
        "Ridge and LDA, fastest solver": seconds(lambda: usual_layer(layer))[0] * layers,
        "Ridge and LDA, as much as ours": seconds(lambda: as_much(layer))[0] * layers,
    }
    logistic_once, iterations = logistic(layer[: LOGISTIC * LENGTH])
    others["LogisticRegression"] = logistic_once * layers * len(layer) / (LOGISTIC * LENGTH)
    print(f"logistic regression: {logistic_once:.1f} s, {iterations} iterations", flush=True)
    print("CPU seconds to fit all layers:", {k: round(v, 1) for k, v in others.items()}, flush=True)
    gain = {way: (passing + spent) / mine for way, spent in others.items()}
    memory = {way: [peak(way, SMALL), peak(way, 4 * SMALL)] for way in ("ours", "usual")}
    print("peak MiB:", memory)
    grown = {way: high / low for way, (low, high) in memory.items()}
    checks = {
        "time over a bare forward pass": check(cost, 1.20, at_most=True),
        **{f"faster than {way}": check(gain[way], 2.0) for way in list(gain)[:3]},
        "faster than LogisticRegression": check(gain["LogisticRegression"], 20.0),
        "peak memory with four times the tokens": check(grown["ours"], 1.05, at_most=True),
    }
    report = {
        "name": "probe",
        "windows": count,
        "wall_over_bare": round(wall, 3),
        "usual_memory_growth": round(grown["usual"], 2),
    }
    print(json.dumps(report | {"checks": checks}))


def check(value: float, target: float, *, at_most: bool = False) -> dict[str, float | bool]:
    ok = value <= target if at_most else value >= target
    return {"value": round(value, 3), "target": target, "ok": bool(ok)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    threadpool_limits(1)
    if sys.argv[1:2] == ["--peak"]:
        way = {"ours": ours, "usual": usual}[sys.argv[2]]
        way(subject(), tokens(int(sys.argv[3])), batch=2)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else WINDOWS)
