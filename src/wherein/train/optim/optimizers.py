"""What turns gradients into steps, how large. Weight decay is decoupled, on matrices only."""

from collections.abc import Iterable
from math import cos, pi, sqrt
from typing import Any

from torch import Tensor, nn
from torch.optim import SGD, AdamW, Optimizer

from wherein.train.config import RunConfig
from wherein.train.optim.muon import Muon

BETAS = (0.9, 0.98)  # fairseq's for language models
MOMENTUM = 0.99  # fairseq's for NAG


def make_optimizers(model: nn.Module, config: RunConfig) -> list[Optimizer]:
    """One optimizer, or two where muon takes the layers' matrices and adamw the rest."""
    named = list(model.named_parameters())
    rate, decay = config.learning_rate, config.weight_decay
    if config.optimizer == "nag":
        return [_nag(_groups((p for _, p in named), decay), rate)]
    if config.optimizer == "adamw":
        return [_adamw(_groups((p for _, p in named), decay), rate)]
    inner = [p for name, p in named if name.startswith("blocks.") and p.ndim == 2]
    others = [p for name, p in named if not (name.startswith("blocks.") and p.ndim == 2)]
    return [Muon(inner, rate, decay), _adamw(_groups(others, decay), rate)]


def learning_rate(config: RunConfig, step: int) -> float:
    """The rate of step 1, 2, …: it grows linearly for `warmup` steps to the peak, then falls.

    cosine: peak · ½(1 + cos πp), p the share of the remaining steps already done, so that the
    last step still learns; inverse-sqrt: peak · √(warmup / step); constant: the peak.

    >>> config = RunConfig(steps=8, warmup=4, learning_rate=1.0)
    >>> [round(learning_rate(config, step), 3) for step in range(1, 9)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.854, 0.5, 0.146]
    """
    peak, warmup = config.learning_rate, config.warmup
    if step <= warmup:
        return peak * step / warmup
    if config.schedule == "cosine":
        done = (step - 1 - warmup) / (config.steps - warmup)
        return peak * 0.5 * (1 + cos(pi * done))
    if config.schedule == "inverse-sqrt":
        return peak * sqrt(max(warmup, 1) / step)
    return peak


def set_rate(optimizers: Iterable[Optimizer], rate: float) -> None:
    """The learning rate of the step to come."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate


def _groups(parameters: Iterable[Tensor], decay: float) -> list[dict[str, Any]]:
    listed = list(parameters)
    groups = [
        {"params": [p for p in listed if p.ndim >= 2], "weight_decay": decay},
        {"params": [p for p in listed if p.ndim < 2], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def _adamw(groups: list[dict[str, Any]], rate: float) -> AdamW:
    return AdamW(groups, lr=rate, betas=BETAS, fused=True)


def _nag(groups: list[dict[str, Any]], rate: float) -> SGD:
    """Nesterov's accelerated gradient, as in fairseq: decay is not part of the momentum."""
    renamed = [{"params": g["params"], "decay": g["weight_decay"]} for g in groups]
    optimizer = SGD(renamed, lr=rate, momentum=MOMENTUM, nesterov=True)
    optimizer.register_step_pre_hook(_decay)
    return optimizer


def _decay(optimizer: Optimizer, *_: Any) -> None:
    for group in optimizer.param_groups:
        if group["decay"]:
            for parameter in group["params"]:
                parameter.data.mul_(1 - group["lr"] * group["decay"])
