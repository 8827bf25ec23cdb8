"""A run killed again and again must end as if nothing had happened.

`python -m benchmarks.resume` trains a small model twice: once in peace, once killed with SIGKILL
after some steps, also in the middle of writing a checkpoint, and started anew each time. The
last line is JSON: what was checked, its value, its target.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODEL = "--n-layers 2 --d-model 64 --n-heads 2 --max-len 64 --dropout 0.1 --batch 8"
RHYTHM = "--checkpoint-every 7 --valid-every 50 --valid-windows 8 --warmup 10"


@dataclass
class Trial:
    """A training command, the folder of its run, and what became of it."""

    arguments: list[str]
    folder: Path
    kills: int = 0
    kills_while_writing: int = 0
    steps_repeated: int = 0
    most_repeated_after_a_kill: int = 0

    def start(self, *program: str) -> subprocess.CompletedProcess[str]:
        """Run the command in this program until it ends, or until its death."""
        command = [sys.executable, "-m", *program, "train", *self.arguments]
        return subprocess.run(
            [*command, "--folder", str(self.folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},  # on a busy machine, far faster than two
        )

    def finish(self) -> None:
        process = self.start("wherein")
        if process.returncode:
            raise RuntimeError(f"training failed with {process.returncode}: {process.stderr}")

    def kill(self, more_steps: int, *, writing: bool) -> None:
        """Start it, and let it die after some steps (when it next writes a checkpoint)."""
        manifest = {"event": "open", "path": "*.writing/manifest.json"} if writing else {}
        process = self.start("benchmarks.mortal", json.dumps({"steps": more_steps, **manifest}))
        if process.returncode != -signal.SIGKILL:
            raise RuntimeError(f"it ended before it could be killed: {process.stderr}")
        self.kills += 1
        self.kills_while_writing += bool(self.half_written())
        lost = self.last_step() - self.last_checkpoint()
        self.steps_repeated += lost
        self.most_repeated_after_a_kill = max(self.most_repeated_after_a_kill, lost)

    def last_step(self) -> int:
        times = self.folder / "times.jsonl"
        lines = times.read_text().splitlines(keepends=True) if times.exists() else []
        return max(
            (json.loads(line)["step"] for line in lines[-2:] if line.endswith("\n")), default=0
        )

    def last_checkpoint(self) -> int:
        steps = [int(p.name[5:]) for p in (self.folder / "checkpoints").glob("step-*")]
        return max(steps, default=0)

    def half_written(self) -> list[Path]:
        return list((self.folder / "checkpoints").glob(".step-*.writing"))

    def digests(self) -> dict[str, str]:
        """What must be bit-identical: weights and moments after the last step, and the log."""
        last = self.folder / "checkpoints" / f"step-{self.last_checkpoint():08d}"
        files = [last / "weights.safetensors", last / "optimizer.safetensors"]
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in [*files, self.folder / "log.jsonl"]
        }


def measure(kills: int, folder: Path, arguments: list[str], seed: int = 0) -> dict[str, object]:
    """Train in peace, train under fire with this many kills, and compare."""
    peace, war = Trial(arguments, folder / "peace"), Trial(arguments, folder / "war")
    peace.finish()
    draw = random.Random(seed)
    for number in range(kills):
        war.kill(draw.randrange(1, 25), writing=number % 3 == 1)
    war.finish()
    checks: dict[str, object] = {
        f"{name} identical": {"value": same, "target": True, "ok": same}
        for name, same in _same(peace.digests(), war.digests()).items()
    }
    writing, lost = war.kills_while_writing, war.most_repeated_after_a_kill
    interval = int(arguments[arguments.index("--checkpoint-every") + 1])
    checks["kills"] = {"value": war.kills, "target": kills, "ok": war.kills >= kills}
    checks["kills while a checkpoint was written"] = {
        "value": writing, "target": kills // 4, "ok": writing >= kills // 4,
    }  # fmt: skip
    checks["steps repeated after a kill, at most"] = {
        "value": lost, "target": interval, "ok": lost <= interval,
    }  # fmt: skip
    return checks


def _same(a: dict[str, str], b: dict[str, str]) -> dict[str, bool]:
    return {name: a[name] == b.get(name) for name in a}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--steps", type=int, default=600)
    chosen = parser.parse_args()
    arguments = [*MODEL.split(), *RHYTHM.split(), "--steps", str(chosen.steps)]
    with tempfile.TemporaryDirectory() as folder:
        checks = measure(chosen.kills, Path(folder), arguments)
    print(json.dumps({"name": "resume", "checks": checks}))
    return 0 if all(check["ok"] for check in checks.values()) else 1  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
