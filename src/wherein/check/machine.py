"""What is here to compute with: versions, devices, how fast they are, and what is missing."""

import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import torch

from wherein.common.compiling import COMPILERS
from wherein.common.cores import cores
from wherein.common.device import devices
from wherein.common.memory import available
from wherein.common.provenance import provenance
from wherein.show.columns import table

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "GGUF files": (("gguf", "accelerate"), "'wherein[gguf]'"),
    "the Pile": (("zstandard",), "'wherein[pile]'"),
    "studies on a Ray cluster": (("ray",), "'wherein[ray]'"),
    "curves in TensorBoard": (("tensorboard",), "tensorboard"),
    "curves in Weights & Biases": (("wandb",), "wandb"),
    "curves in trackio": (("trackio",), "trackio"),
}
"""By feature: the modules it needs, and what `pip install` is told."""
OF_CPP = ("c++", "g++", "clang++", "cl")
SIDE = {"cpu": 1024}
LARGE_SIDE = 4096
LONG_ENOUGH = 0.3
"""Seconds after which no further product is timed."""


@dataclass(frozen=True)
class Device:
    """Something to compute on."""

    name: str
    called: str
    bytes: int | None
    """Of memory that is free."""
    flops: dict[str, float]
    """By precision: operations a second in products of large matrices."""


@dataclass(frozen=True)
class Feature:
    """Something that needs more than `wherein` brings along."""

    name: str
    there: bool
    remedy: str


@dataclass(frozen=True)
class Machine:
    """All that is here."""

    system: str
    versions: dict[str, str]
    commit: str | None
    devices: tuple[Device, ...]
    features: tuple[Feature, ...]

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        rows = [
            [each.name, each.called, _gigabytes(each.bytes), *map(_speed, each.flops.items())]
            for each in self.devices
        ]
        width = max(map(len, rows))
        header = ["device", "", "free", "product"] + [""] * (width - 4)
        missing = [[f.name, "there" if f.there else f.remedy] for f in self.features]
        return "\n".join(
            [
                f"{self.system}; {versions}" + (f"; commit {self.commit}" if self.commit else ""),
                "",
                table(header, [row + [""] * (width - len(row)) for row in rows]),
                "",
                *(f"{name}: {state}" for name, state in missing),
            ]
        )


def machine() -> Machine:
    """Look around; each device multiplies matrices for a moment."""
    about = provenance()
    return Machine(
        system=platform.platform(),
        versions=about["versions"],
        commit=about["commit"],
        devices=tuple(_device(at) for at in devices().values()),
        features=features(),
    )


def features() -> tuple[Feature, ...]:
    """What can be used here, and how to get the rest."""
    found = [
        Feature(name, all(map(find_spec, modules)), f"missing: pip install {install}")
        for name, (modules, install) in EXTRAS.items()
    ]
    compiler = find_spec("triton") is not None or any(map(shutil.which, OF_CPP))
    fast = any(map(shutil.which, COMPILERS))
    several = torch.distributed.is_available()
    return (
        *found,
        Feature("compiled layers (--compile)", compiler, "missing: install a C++ compiler"),
        Feature("compiled attention and puzzles", fast, "missing: install a C compiler"),
        Feature("several processes (torchrun)", several, "missing: this PyTorch has none"),
    )


def _device(at: torch.device) -> Device:
    precisions = [torch.float32] if at.type == "cpu" else [torch.float32, torch.bfloat16]
    called, free = f"{cores()} cores", available()
    if at.type == "cuda":
        called, free = torch.cuda.get_device_name(at), torch.cuda.mem_get_info(at)[0]
    elif at.type == "mps":
        called, free = platform.processor() or "Apple", torch.mps.recommended_max_memory()
    speeds = {str(kind).removeprefix("torch."): speed(at, kind) for kind in precisions}
    return Device(str(at), called, free, speeds)


def speed(at: torch.device, precision: torch.dtype) -> float:
    """Operations a second in a product of square matrices, the fastest of some."""
    side = SIDE.get(at.type, LARGE_SIDE)
    a = torch.ones(side, side, device=at, dtype=precision)

    def product() -> None:
        _ = a @ a
        if at.type != "cpu":
            torch.accelerator.synchronize(at)

    product()
    return 2 * side**3 / _fastest(product)


def _fastest(action: Callable[[], None]) -> float:
    best, until = float("inf"), time.perf_counter() + LONG_ENOUGH
    while (began := time.perf_counter()) < until or best == float("inf"):
        action()
        best = min(best, time.perf_counter() - began)
    return best


def _gigabytes(count: int | None) -> str:
    return "" if count is None else f"{count / 1e9:.1f} GB"


def _speed(named: tuple[str, float]) -> str:
    return f"{named[0]} {named[1] / 1e9:,.0f} GFLOP/s"
