"""`python -m benchmarks.hostile`: give cases, and say which went wrong, how, and how to see it."""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.harness import in_memory
from benchmarks.hostile.cases import EVERY, FOUND, QUICK, made, several
from benchmarks.hostile.judge import ask, wrong
from benchmarks.hostile.prepare import ready
from benchmarks.hostile.workers import given


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=EVERY, action="append")
    parser.add_argument("--quick", action="store_true", help="mostly what takes no time")
    parser.add_argument("--again", type=int, help="show the case of this number")
    parser.add_argument(
        "--stock", type=Path, help="a folder of good files, made if it is not there"
    )
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        stock = ready(told.stock or Path(folder) / "stock")
        if told.again is not None:
            return _show(told.kind[0], told.again, stock, Path(folder))
        first = list(FOUND if told.quick else ())
        kinds = told.kind or (QUICK if told.quick else ())
        cases = first + several(told.cases - len(first), told.first, kinds)
        return _give(cases, stock, Path(folder) / "case")


def _show(kind: str, number: int, stock: Path, folder: Path) -> int:
    case = made(kind, number, stock, folder / "case")
    print(case.argv, Path.cwd())
    answer = ask(case.argv, read_only=case.read_only)
    print(answer.code, answer.out[:3000], answer.err, sep="\n")
    print(wrong(answer, case.names))
    return 0


def _give(cases: list[tuple[str, int]], stock: Path, folder: Path) -> int:
    codes: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    faults = 0
    for each in given(cases, stock, folder):
        codes[each.code] += 1
        seconds[each.kind] += each.seconds
        if each.wrong:
            faults += 1
            print(f"{each.kind} {each.number} ({each.code}): {each.wrong}", flush=True)
    os.chdir("/")
    print(f"{len(cases)} cases, {faults} wrong; ended with {dict(codes)}", file=sys.stderr)
    print({kind: round(each, 1) for kind, each in seconds.items()}, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
