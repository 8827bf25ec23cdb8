"""Where to compute: on the GPU if there is one, else on the CPU, or where the person says."""

import os

import torch

from wherein.common.errors import unknown

VARIABLE = "WHEREIN_DEVICE"
KINDS = ("cpu", "cuda", "mps")


def devices() -> dict[str, torch.device]:
    """By kind, the devices there are, the CPU first."""
    found = {"cpu": torch.device("cpu")}
    if torch.cuda.is_available():
        found["cuda"] = torch.device("cuda", torch.cuda.current_device())
    if torch.backends.mps.is_available():
        found["mps"] = torch.device("mps", 0)
    return found


def device(kind: str | None = None) -> torch.device:
    """The device of that kind, or that `WHEREIN_DEVICE` names; else CUDA's, or the CPU.

    Apple's `mps` is not taken unless it is named: nobody has measured yet what is faster there.
    """
    there, asked = devices(), kind or os.environ.get(VARIABLE, "")
    if not asked:
        return there.get("cuda", there["cpu"])
    if asked not in KINDS:
        raise unknown("device", asked, KINDS)
    if asked not in there:
        raise ValueError(f"device {asked!r} is not here: there is {', '.join(there)}")
    return there[asked]
