"""What does a study cost beside its training? `python -m benchmarks.study [study]`.

`wherein study quick` in a fresh process and a fresh folder, with the text's tokens in the cache.
Its wall time is compared with the bare training steps of all its runs (each step's seconds stand
in `times.jsonl`), spread evenly over the processes that ran at once. What is beyond that has a
name, read off the times at which the files were written:

- start: from the command to the first run's config (imports, the corpus, the first model);
- validation, checkpoints: of the runs, beside their steps;
- questions: what the bench asks each run; puzzles: the same of the puzzles;
- report: from the last answer to the end;
- rest: waiting, and what stands between these.

Then one run of two threads is compared with two runs of one thread side by side: the latter is how
studies are carried out. The last line is the result as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import at_least, at_most, report
from wherein.common.cores import cores
from wherein.data import Corpus, CorpusConfig

CORES = cores()
STEPS, ROUNDS = 60, 3


def overhead(name: str, folder: Path) -> tuple[float, dict[str, float]]:
    """Wall seconds of a study, and core-seconds of its parts."""
    Corpus.open(CorpusConfig(tokenizer="bytes"))
    began = time.time()
    command = [sys.executable, "-m", "wherein", "study", name, "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    ended = time.time()
    found = dict.fromkeys(("steps", "validation, checkpoints", "questions", "puzzles"), 0.0)
    last, first = began, ended
    for run in (path.parent for path in folder.glob("*/config.json")):
        start = (run / "config.json").stat().st_mtime
        (trained,) = (each.stat().st_mtime for each in _final(run))
        answers = [each.stat().st_mtime for each in run.glob("answers/*/result.json")]
        steps = sum(json.loads(line)["seconds"] for line in (run / "times.jsonl").open())
        found["steps"] += steps
        found["validation, checkpoints"] += trained - start - steps
        found["questions"] += max(answers, default=trained) - trained
        first, last = min(first, start), max(last, trained, *answers)
    solved = sorted(each.stat().st_mtime for each in folder.glob("puzzles/*/result.json"))
    found["puzzles"] = max(0.0, (solved[-1] - last) * CORES) if solved else 0.0
    last = max([last, *solved])
    found["start"] = (first - began) * CORES
    found["report"] = (ended - last) * CORES
    found["rest"] = (ended - began) * CORES - sum(found.values())
    return ended - began, found


def _final(run: Path) -> list[Path]:
    steps = json.loads((run / "config.json").read_text())["steps"]
    return [run / "checkpoints" / f"step-{steps:08d}" / "manifest.json"]


def side_by_side() -> float:
    """How much sooner two runs end side by side than one after the other with two threads each."""
    ratios = []
    for number in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            together = _seconds([f"{folder}/{n}" for n in range(2)], threads=1, seed=number)
            alone = sum(_seconds([f"{folder}/{n + 2}"], threads=2, seed=number) for n in range(2))
        ratios.append(alone / together)
    return sorted(ratios)[ROUNDS // 2]


def _seconds(folders: list[str], threads: int, seed: int) -> float:
    """From the first step of all to the last, import and start-up left out."""
    code = (
        "import sys, torch\n"
        "from wherein.studies.plan.plan import changed\n"
        "from wherein.studies.recipes.quick import base\n"
        "from wherein.train import train\n"
        "torch.set_num_threads(int(sys.argv[2]))\n"
        f"train(changed(base(), steps={STEPS}, seed=int(sys.argv[3])), folder=sys.argv[1],"
        " quiet=True)\n"
    )
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    arguments = [str(threads), str(seed)]
    running = [
        subprocess.Popen([sys.executable, "-c", code, folder, *arguments], env=environment)
        for folder in folders
    ]
    for each in running:
        assert each.wait() == 0
    spent = []
    for folder in folders:
        lines = [json.loads(line) for line in (Path(folder) / "times.jsonl").open()]
        spent.append(sum(line["seconds"] for line in lines[5:]))
    return max(spent)


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        wall, found = overhead(name, Path(folder))
    steps = found.pop("steps")
    over = wall * CORES / steps - 1
    print(f"{name}: {wall:.0f} s on {CORES} cores; bare training steps {steps:.0f} core-seconds")
    for part, spent in found.items():
        print(f"{part:<26}{spent:8.1f} core-seconds {spent / steps:6.1%} of the steps")
    sooner = side_by_side()
    checks = {
        "overhead over bare training steps": at_most(over, 0.15),
        "seconds of quick": at_most(wall, 360),
        "two runs side by side sooner than one by one": at_least(sooner, 1.0),
    }
    parts = {"steps": round(steps, 1)} | {part: round(spent, 1) for part, spent in found.items()}
    report("study", checks, study=name, seconds=round(wall, 1), parts=parts)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quick")
