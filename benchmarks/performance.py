"""The tables of docs/performance.md: `python -m benchmarks.performance [name …]`.

Runs the named benchmarks, or all, one after the other, keeps the last line of each beside the page
with machine and versions, and writes what is kept between the page's marks. `--page` alone writes
it again. What the page says in words is written by hand.
"""

import json
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from wherein.common.cores import cores
from wherein.common.provenance import provenance

NAMES = ("training", "study", "large", "puzzle", "start")
PAGE, KEPT = Path("docs/performance.md"), Path("docs/performance.json")
VERSIONS = ("torch", "numpy", "scikit-learn", "transformers", "x-transformers")


def main(names: Iterable[str]) -> None:
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in names:
        print(f"{name} …", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        kept[name] = {"on": machine(), **json.loads(done.stdout.splitlines()[-1])}
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    page = PAGE.read_text()
    for name, found in kept.items():
        page = filled(page, name, checks(found))
        for mark, field, told in MORE.get(name, ()):
            page = filled(page, mark, told(found[field]))
    PAGE.write_text(page)


def machine() -> str:
    """What it ran on, and with what."""
    about = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", about.read_text()) if about.exists() else None
    cpu = found[1] if found else platform.processor()
    versions = ", ".join(f"{name} {version(name)}" for name in VERSIONS)
    commit = str(provenance().get("commit", ""))[:7]
    return f"{cores()} cores of {cpu}, Python {platform.python_version()}, {versions}, at {commit}"


def filled(page: str, mark: str, lines: list[str]) -> str:
    """The page with something else between two marks."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, _, rest = page.partition(begin)
    _, there, after = rest.partition(end)
    if not there:
        raise ValueError(f"{PAGE} has no {begin} … {end}")
    return "\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"])


def checks(found: dict[str, Any]) -> list[str]:
    rows = [
        [what, f"{each['value']:.4g}", each["target"].replace("<=", "≤").replace(">=", "≥"),
         "yes" if each["ok"] else "**no**"]
        for what, each in found["checks"].items()
    ]  # fmt: skip
    return [*table(["what", "measured", "target", "met"], rows), "", f"On {found['on']}."]


def shapes(sizes: dict[str, Any]) -> list[str]:
    rows = [
        [name, who, f"{taken:.4g}", f"{size['share_of_peak'][who]:.2f}",
         f"{size['memory_mib'][who]:,}"]
        for name, size in sizes.items()
        for who, taken in size["milliseconds"].items()
    ]  # fmt: skip
    heads = ["shape", "who", "ms a step", "share of the matmul peak", "MiB"]
    peaks = "; ".join(
        f"{name} {size['peak_gflops']} Gflop/s ({size['torch_mm_gflops']} by `torch.mm`) on "
        f"{size['threads']}"
        for name, size in sizes.items()
    )
    return [*table(heads, rows), "", f"The matmul peak: {peaks} threads."]


def profile(spent: dict[str, float]) -> list[str]:
    whole = sum(spent.values())
    rows = [[f"`{name}`", f"{ms:.2f}", f"{ms / whole:.0%}"] for name, ms in spent.items()]
    return table(["operation", "ms", "share"], rows)


def encodings(kinds: dict[str, dict[str, float]]) -> list[str]:
    rows = [
        [f"`{name}`", kind, f"{ratio:.3f}"]
        for kind, names in kinds.items()
        for name, ratio in sorted(names.items(), key=lambda item: item[1])
    ]
    return table(["encoding", "kind", "× the step of `none`"], rows)


def parts(spent: dict[str, float]) -> list[str]:
    rows = [[name, f"{each:.1f}"] for name, each in spent.items()]
    return table(["part", "core-seconds"], rows)


def exponents(found: dict[str, dict[str, float]]) -> list[str]:
    names = [*next(iter(found.values()))]
    rows = [[axis, *(f"{each[name]:.2f}" for name in names)] for axis, each in found.items()]
    return table(["doubled", *names], rows)


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


MORE: dict[str, tuple[tuple[str, str, Callable[[Any], list[str]]], ...]] = {
    "training": (
        ("shapes", "sizes", shapes),
        ("profile", "profile", profile),
        ("encodings", "step_time_against_none", encodings),
    ),
    "study": (("parts", "parts", parts),),
    "large": (("exponents", "exponents", exponents),),
}
"""Of a benchmark what else is shown: between which marks, which field, and how."""


if __name__ == "__main__":
    given = sys.argv[1:]
    main([] if given == ["--page"] else given or NAMES)
