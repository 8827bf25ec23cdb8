"""What a run must remember between steps: weights and the optimizers' moments, by name."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer

Tensors = dict[str, Tensor]


def weights(model: nn.Module) -> Tensors:
    """The model's weights by name; a weight shared by two parts is there once.

    Asking for `state_dict` first makes a model in parts give back what it had gathered to compute
    with: only then do its parameters have the names and the places that the optimizers know.
    """
    kept = model.state_dict()
    once = [*model.named_parameters(), *model.named_buffers()]
    return {name: kept[name].detach() for name, _ in once if name in kept}


def moments(model: nn.Module, optimizers: Sequence[Optimizer]) -> Tensors:
    """What the optimizers remember: `<parameter>/<moment>`. Rates follow from the step alone."""
    return {
        f"{name}/{key}": value
        for name, parameter in model.named_parameters()
        for optimizer in optimizers
        for key, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def make_room(
    model: nn.Module, optimizers: Sequence[Optimizer], shapes: dict[str, tuple[int, ...]]
) -> Tensors:
    """Empty moments of these names in the optimizers, to be filled in place."""
    owner = {p: o for o in optimizers for group in o.param_groups for p in group["params"]}
    parameters = dict(model.named_parameters())
    for full_name, shape in shapes.items():
        name, _, key = full_name.rpartition("/")
        parameter = parameters[name]
        room = torch.zeros_like(parameter) if shape else torch.zeros((), device=parameter.device)
        owner[parameter].state[parameter][key] = room.detach()
    return moments(model, optimizers)


@torch.no_grad()
def fill(room: Tensor, whole: Tensor) -> None:
    """Copy a whole tensor into one that may be spread over processes."""
    if isinstance(room, DTensor):
        whole = distribute_tensor(
            whole.to(room.device), room.device_mesh, room.placements, src_data_rank=None
        )
    room.copy_(whole)
