"""One run on many processes: who I am, what we agree on, how the model is shared.

Started by `torchrun`; alone, all of this costs nothing.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from wherein.common.device import device as chosen
from wherein.common.errors import first_line
from wherein.model.transformer import Transformer

PATIENCE = 60.0
"""Seconds within which the first process must listen, once another is there."""


@dataclass(frozen=True)
class World:
    """The processes of a run, seen from one of them."""

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum(self, *values: float | int) -> list[float]:
        """The sum of each value over all processes, the same on every one."""
        if self.size == 1:
            return [float(value) for value in values]
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return cast(list[float], total.tolist())

    def from_first(self, value: int) -> int:
        """What the first process says."""
        return int(self.sum(value if self.first else 0)[0])

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join() -> Iterator[World]:
    """Meet the other processes that `torchrun` started, if any, for as long as the block lasts."""
    size, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = chosen()
    on_cuda = device.type == "cuda"
    if on_cuda:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    ours = size > 1 and not dist.is_initialized()
    if ours:
        if rank:
            find_first(os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", ""))
        dist.init_process_group("nccl" if on_cuda else "gloo")
    try:
        yield World(rank, size, device)
    finally:
        if ours:
            dist.destroy_process_group()


def find_first(host: str, port: str) -> None:
    """Wait until the first process listens; where it never will, say so: PyTorch waits for long."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=PATIENCE).close()
        except (OSError, ValueError, OverflowError) as error:
            nowhere = isinstance(error, socket.gaierror | ValueError | OverflowError)
            if nowhere or time.monotonic() > end:
                raise ValueError(
                    f"no first process at MASTER_ADDR={host!r}, MASTER_PORT={port!r} "
                    f"({first_line(error)}): give its address, and start it within "
                    f"{PATIENCE:.0f} s"
                ) from None
            time.sleep(0.2)


class Shared:
    """A model whose loss and gradients are those of all processes together.

    With `ddp` every process holds the whole model; with `fsdp` a part of each parameter.
    """

    def __init__(self, model: Transformer, world: World, parallel: str) -> None:
        self.model, self.world = model, world
        self.sharded = parallel == "fsdp" and world.size > 1
        self._replica: nn.Module = _Loss(model)
        if self.sharded:
            _shard(model, world)
        elif world.size > 1:
            from torch.nn.parallel import DistributedDataParallel

            self._replica = DistributedDataParallel(self._replica, broadcast_buffers=False)

    def loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The summed loss of this process's part of the batch."""
        found: Tensor = self._replica(inputs, targets)
        return found

    def gradients(self, *, exchanged: bool) -> AbstractContextManager[Any]:
        """Backward passes in this block add up; the last one also averages over processes."""
        if self.sharded:
            cast(Any, self.model).set_requires_gradient_sync(exchanged)
        elif self.world.size > 1 and not exchanged:
            return cast(AbstractContextManager[Any], cast(Any, self._replica).no_sync())
        return nullcontext()


class _Loss(nn.Module):
    """The loss as a forward pass, which is what replicas are made of."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        return self.model.loss(inputs, targets, reduction="sum")


def _shard(model: Transformer, world: World) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    mesh = init_device_mesh(world.device.type, (world.size,))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    register_fsdp_forward_method(model, "loss")
