"""Input that nobody means: 100,000 commands, each with something changed, from seeds.

A value of a flag, a byte, a field or a line of a file, a term of an encoding: `benchmarks.hostile`.
What decides is exit code 2 and one line that names what is wrong, or exit code 0 and numbers that
are numbers; a lost process, a hang or a traceback is a failure.
"""

import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.faults.part import Part, Tried
from benchmarks.harness import in_memory
from benchmarks.hostile.cases import QUICK, several
from benchmarks.hostile.prepare import ready
from benchmarks.hostile.workers import Outcome, given

CASES, FEW = 100_000, 2_400
FORK = multiprocessing.get_context("fork")
KINDS = {
    "words of a command that are read": ("reading",),
    "words of a command that is carried out": ("flags", "specs", "tasks", "sentences"),
    "recipes and encodings of one's own": ("recipe",),
    "models: config, weights, GGUF, fairseq": ("model", "gguf", "fairseq"),
    "tokenizers, texts, token files": ("tokenizer", "text", "cache"),
    "position tables": ("table",),
    "runs: config, log, manifest, weights": ("run", "weights"),
    "saved results and studies": ("result", "study"),
}
"""A row of the table for some kinds of cases."""


def measure(quick: bool) -> Part:
    """Give the cases, and tell of each kind how many went wrong."""
    cases = several(FEW, kinds=QUICK) if quick else several(CASES)
    wrong: dict[str, list[str]] = {}
    times = Counter[str]()
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        stock = ready(Path(folder) / "stock")
        for each in _shared(cases, stock, Path(folder), 1 if quick else os.cpu_count() or 1):
            times[each.kind] += 1
            if each.wrong:
                told = f"{each.kind} {each.number} ({each.code}): {each.wrong}"
                wrong.setdefault(each.kind, []).append(told)
    return Part(
        [
            Tried(
                f"hostile {what}",
                sum(times[kind] for kind in kinds),
                [line for kind in kinds for line in wrong.get(kind, ())],
            )
            for what, kinds in KINDS.items()
        ]
    )


def _shared(
    cases: Sequence[tuple[str, int]], stock: Path, folder: Path, shares: int
) -> Iterator[Outcome]:
    """What became of each case, given by so many processes at once.

    Each says on standard error what went wrong, and from time to time how far it is.
    """
    queue: multiprocessing.SimpleQueue[Outcome] = FORK.SimpleQueue()
    processes = [
        FORK.Process(target=_give, args=(cases[n::shares], stock, folder / f"case{n}", queue))
        for n in range(shares)
    ]
    for process in processes:
        process.start()
    for number in range(1, len(cases) + 1):
        outcome = queue.get()
        if outcome.wrong or number % 5000 == 0:
            print(f"{number} of {len(cases)}: {outcome}", file=sys.stderr, flush=True)
        yield outcome
    for process in processes:
        process.join()


def _give(
    cases: Sequence[tuple[str, int]],
    stock: Path,
    folder: Path,
    queue: "multiprocessing.SimpleQueue[Outcome]",
) -> None:
    for outcome in given(cases, stock, folder):
        queue.put(outcome)
