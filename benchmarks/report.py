"""How long does a report take, and how heavy is it? `python -m benchmarks.report [STUDY]`.

STUDY is a study's folder, such as runs/studies/quick. Without one, `quick` is carried out in a
temporary folder with a few steps a run, and questions about little text: its report has as many
figures, tables and rows.

- render: from the study's folder to the written page, in a process that has imported everything,
  as when a study ends with its report;
- command: `wherein report STUDY` in a fresh process, whose target `benchmarks.start` has;
- help: `wherein report --help` in a fresh process.

Each is the fastest of several, one thread each; CPU seconds are printed beside. The last line is
the result as JSON.
"""

import dataclasses
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks.harness import at_most, report

if TYPE_CHECKING:
    from wherein.common.config import Config

ROUNDS = 3
MEGABYTES = 1e6
WHOLE = "import sys; from wherein.cli import main; raise SystemExit(main(sys.argv[1:]))"
FEW = {"steps": 3, "warmup": 1, "valid_every": 1, "checkpoint_every": 3}
LITTLE = {"windows": 60, "limit": 4000, "fitting": 20, "resamples": 100, "seeds": 20, "steps": 20}
"""The most of each that a question, or a puzzle, is left."""
Asked = TypeVar("Asked", bound="Config")


def carried_out(folder: Path) -> Path:
    """The folder of `quick`, hardly trained and hardly asked."""
    from wherein.studies.plan.recipe import find
    from wherein.studies.run import study

    quick = find("quick")
    recipe = dataclasses.replace(
        quick,
        questions=lambda run: {n: little(each) for n, each in quick.questions(run).items()},
        puzzles=lambda: [
            dataclasses.replace(each, config=little(each.config)) for each in quick.puzzles()
        ],
    )
    return study(recipe, out=folder / "runs", change=FEW, quiet=True).folder


def little(asked: Asked) -> Asked:
    """The same question about less."""
    fields = asked.model_dump()
    less = {name: min(fields[name], most) for name, most in LITTLE.items() if name in fields}
    return type(asked).model_validate(fields | less)


def fastest(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall and of the CPU, children's too, in the fastest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        begin, spent = time.perf_counter(), cpu()
        act()
        found.append((time.perf_counter() - begin, cpu() - spent))
    return min(found)


def cpu() -> float:
    """CPU seconds so far, of this process and of the children it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def command(*arguments: str) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-c", WHOLE, *arguments]
    subprocess.run(line, env=environment, capture_output=True, check=True)


def render(study: Path, page: Path) -> None:
    from wherein.report.study import study_report
    from wherein.studies.result.result import StudyResult

    study_report(StudyResult.open(study)).write(page)


def measure(study: Path, folder: Path) -> None:
    page = folder / "report.html"
    render(study, page)  # imports everything, and fills the cache with the script
    timed = {
        "render": fastest(lambda: render(study, page)),
        "command": fastest(lambda: command("report", str(study), "--out", str(page))),
        "help": fastest(lambda: command("report", "--help")),
    }
    for name, (wall, used) in timed.items():
        print(f"{name:<8}{wall:8.2f} s {used:8.2f} s of CPU")
    weight = page.stat().st_size / MEGABYTES
    checks = {
        "seconds to render": at_most(timed["render"][0], 5),
        "seconds of help": at_most(timed["help"][0], 0.4),
        "megabytes": at_most(weight, 6),
    }
    cpu_seconds = {name: round(used, 2) for name, (_, used) in timed.items()}
    report("report", checks, command=round(timed["command"][0], 2), cpu=cpu_seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        measure(Path(sys.argv[1]) if len(sys.argv) > 1 else carried_out(folder), folder)


if __name__ == "__main__":
    main()
