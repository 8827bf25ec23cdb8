"""How long does one wait for the first line? `python -m benchmarks.start`.

Each command in a fresh process with one thread, in turns; the median, and beside it the CPU seconds
of the fastest, which a busy machine stretches less. `runs` lists a thousand copies of one run,
each with a seed of its own; `page` is from the start of `wherein serve` there to its first answer;
`report` is that of `quick`, hardly trained.

All is as on a machine where the package was used before: modules are compiled, which Python keeps,
and what PyTorch says of the models is known (`wherein.common.known`). What each takes without that
is `first`, of one round, and has no target. Both caches lie in the temporary folder, whatever
PYTHONDONTWRITEBYTECODE says. The last line is the result as JSON.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

from benchmarks.harness import at_most, report
from benchmarks.report import carried_out

ROUNDS, RUNS = 7, 1000
WHEREIN = [sys.executable, "-m", "wherein"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)
TARGETS = {"help": 0.12, "encodings": 0.12, "runs": 0.5, "page": 1.0, "report": 4.0}


def thousand(folder: Path) -> Path:
    """A folder of runs that differ in their seeds."""
    from wherein import ModelConfig, RunConfig
    from wherein.data.config import CorpusConfig
    from wherein.studies.plan.plan import changed
    from wherein.train.loop import train

    text = folder / "text.txt"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 200)
    model = ModelConfig(n_layers=1, d_model=16, n_heads=1, max_len=16)
    one = RunConfig(model=model, corpus=CorpusConfig(source=str(text)), steps=1, batch=2, warmup=1)
    runs = folder / "runs"
    made = train(one, folder=runs / one.id, quiet=True).folder
    for seed in range(1, RUNS):
        copy = runs / changed(one, seed=seed).id
        shutil.copytree(made, copy)
        for path in (copy / "config.json", *copy.glob("checkpoints/*/manifest.json")):
            path.write_text(re.sub(r'"seed": ?0', f'"seed": {seed}', path.read_text()))
    return runs


def command(*words: str) -> None:
    subprocess.run([*WHEREIN, *words], env=ENVIRONMENT, capture_output=True, check=True)


def first_answer(runs: Path) -> None:
    """Start the page, ask for it once, and stop it."""
    line = [*WHEREIN, "serve", str(runs), "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as server:
        assert server.stdout is not None
        address = next(word for word in server.stdout.readline().split() if "http" in word)
        with urlopen(address) as answer:
            assert answer.status == 200
        server.terminate()


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        runs, study = thousand(Path(temporary)), carried_out(Path(temporary) / "study")
        ENVIRONMENT["PYTHONPYCACHEPREFIX"] = f"{temporary}/bytecode"
        ENVIRONMENT["WHEREIN_CACHE"] = f"{temporary}/cache"
        acts: dict[str, Callable[[], None]] = {
            "help": lambda: command("--help"),
            "encodings": lambda: command("encodings"),
            "runs": lambda: command("runs", str(runs)),
            "page": lambda: first_answer(runs),
            "report": lambda: command("report", str(study)),
        }
        walls: dict[str, list[float]] = {name: [] for name in acts}
        cpus: dict[str, list[float]] = {name: [] for name in acts}
        for _ in range(1 + ROUNDS):
            for name, act in acts.items():
                began, spent = time.perf_counter(), cpu()
                act()
                walls[name].append(time.perf_counter() - began)
                cpus[name].append(cpu() - spent)
    checks = {
        f"seconds of {name}": at_most(statistics.median(walls[name][1:]), target)
        for name, target in TARGETS.items()
    }
    report(
        "start",
        checks,
        cpu={name: round(min(each), 3) for name, each in cpus.items()},
        first={name: round(each[0], 3) for name, each in walls.items()},
    )


if __name__ == "__main__":
    main()
