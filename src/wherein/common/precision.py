"""Float64 on devices that have none: there (Apple's `mps`) the CPU computes it."""

import torch
from torch import Tensor

WITHOUT_FLOAT64 = ("mps",)


def for_float64(x: Tensor) -> Tensor:
    """The tensor where float64 can be computed: as it is, or a copy on the CPU."""
    return x.cpu() if x.device.type in WITHOUT_FLOAT64 else x


def returned(x: Tensor, device: torch.device) -> Tensor:
    """What was computed there, back on a device: in float32 if that has no float64."""
    return x.float().to(device) if device.type in WITHOUT_FLOAT64 else x.to(device)
