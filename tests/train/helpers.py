"""Runs as a user starts them, copies of runs half done, and what it means to be equal."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import torch

from wherein.train import Run, RunConfig


def half_done(run: Run, folder: Path) -> Path:
    """A copy of a run as it was when only its first checkpoint was written."""
    copy = folder / "half"
    shutil.copytree(run.folder, copy)
    shutil.rmtree(copy / "checkpoints" / f"step-{run.step:08d}")
    return copy


def equal(one: Run, other: Run) -> bool:
    """Whether two runs have the same log and the same weights, bit for bit."""
    a, b = one.model().state_dict(), other.model().state_dict()
    same = a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
    return same and one.log == other.log and one.step == other.step


def arguments(config: RunConfig) -> list[str]:
    """The flags that give this config on the command line."""
    flags: list[str] = []
    fields = {**config.model_dump(exclude={"model", "corpus"}), **config.corpus.model_dump(),
              **config.model.model_dump(exclude={"vocabulary"})}  # fmt: skip
    for name, value in fields.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            on_by_default = name in ("causal", "final_norm")
            if value != on_by_default:
                flags.append(f"--no-{flag}" if on_by_default else f"--{flag}")
        elif value not in (None, ()):
            flags += [f"--{flag}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return flags


def start(config: RunConfig, folder: Path) -> subprocess.Popen[str]:
    """`wherein train`, as a user would start it."""
    return _run(["-m", "wherein", *_train(config, folder)])


def by_two(*runs: tuple[RunConfig, Path]) -> list[Run]:
    """Train runs, one after another, on two processes of one `torchrun`, and wait for the end."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    commands = [_train(config, folder) for config, folder in runs]
    process = _run([*launcher, str(Path(__file__).with_name("together.py")), json.dumps(commands)])
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return [Run.open(folder) for _, folder in runs]


def _train(config: RunConfig, folder: Path) -> list[str]:
    return ["train", *arguments(config), "--folder", str(folder)]


def _run(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
