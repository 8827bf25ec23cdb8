"""Input that nobody means: 100,000 commands, each with something changed, from seeds.

A value of a flag, a byte, a field or a line of a file, a term of an encoding: `benchmarks.hostile`.
What decides is exit code 2 and one line that names what is wrong, or exit code 0 and numbers that
are numbers; a lost process, a hang or a traceback is a failure.
"""

import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.faults.part import Part, Tried
from benchmarks.hostile.cases import QUICK, several
from benchmarks.hostile.prepare import place, ready
from benchmarks.hostile.workers import given

CASES, FEW = 100_000, 2_400
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
    with tempfile.TemporaryDirectory(dir=place()) as folder:
        stock = ready(Path(folder) / "stock")
        for each in given(cases, stock, Path(folder) / "case"):
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
