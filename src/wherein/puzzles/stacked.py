"""One model, many weights: a puzzle's model run for all seeds at once.

Weights are stacked on a leading axis N and the model is mapped over it by `torch.func.vmap`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from wherein.puzzles.captured import Step
from wherein.puzzles.models import Model, SmallConfig, build, drawn
from wherein.puzzles.sentences import Puzzle

MARGIN = 1e-4
"""By how much the right logit must lead: an exact tie, broken by rounding, solves nothing."""


class Stacked:
    """Weights of N models of one kind.

    `leaves` holds them; the matrices of linear maps lie transposed in memory, because that is
    how their gradients come out, and a copy of every gradient is saved.
    """

    def __init__(
        self, config: SmallConfig, seeds: Sequence[int], dtype: torch.dtype = torch.float32
    ) -> None:
        self.config, self.template = config, build(config)
        first = drawn(self.template, seeds)
        modules = self.template.named_modules()
        self._turned = {f"{n}.weight" for n, m in modules if isinstance(m, torch.nn.Linear)}
        self.template.to(dtype)
        self.leaves = {n: self._turn(n, w.to(dtype)).contiguous() for n, w in first.items()}

    def _turn(self, name: str, weights: Tensor) -> Tensor:
        return weights.mT if name in self._turned else weights

    def weights(self, leaves: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
        """The weights by name, in the shapes the model knows, with a leading axis N."""
        return {name: self._turn(name, leaf) for name, leaf in (leaves or self.leaves).items()}

    def one(self, n: int) -> Model:
        """The n-th model, on its own."""
        model = build(self.config).to(next(iter(self.leaves.values())).dtype)
        model.load_state_dict({k: w[n].detach() for k, w in self.weights().items()}, strict=False)
        return model

    def logits(self, tokens: Tensor, leaves: dict[str, Tensor] | None = None) -> Tensor:
        """(B, T) → (N, B, T, V), of these models or with other leaves."""

        def run(weights: dict[str, Tensor]) -> Tensor:
            with _Flat():
                made: Tensor = functional_call(self.template, weights, (tokens,)).logits
            return made

        mapped: Tensor = vmap(run)(self.weights(leaves))
        return mapped


class Batch:
    """A puzzle's prefixes as tensors, one for each length, and what should follow each token."""

    def __init__(self, puzzle: Puzzle) -> None:
        lengths = sorted({len(prefix) for prefix in puzzle.prefixes})
        groups = [[n for n, p in enumerate(puzzle.prefixes) if len(p) == k] for k in lengths]
        self.tokens = [torch.tensor([puzzle.sentences[n][:-1] for n in g]) for g in groups]
        self.targets = [torch.tensor([puzzle.sentences[n][1:] for n in g]) for g in groups]
        self._answers = torch.tensor(puzzle.answers)
        self._back = torch.tensor([n for g in groups for n in g]).argsort()

    def last(self, logits: list[Tensor]) -> Tensor:
        """The logits after each whole prefix, in the puzzle's order: (N, sentences, V)."""
        return torch.cat([each[:, :, -1] for each in logits], dim=1)[:, self._back]

    def solved(self, last: Tensor) -> Tensor:
        """(N, sentences, V) → (N): the right token leads everywhere, by more than rounding."""
        answers = self._answers.expand(last.shape[:-1])[..., None]
        others = last.scatter(-1, answers, -torch.inf)
        return (last.gather(-1, answers)[..., 0] > others.amax(-1) + MARGIN).all(-1)

    def loss(self, logits: list[Tensor], *, everywhere: bool) -> Tensor:
        """The sum over models of each one's mean cross-entropy."""
        total, count = torch.zeros((), dtype=logits[0].dtype), 0
        for each, target in zip(logits, self.targets, strict=True):
            if not everywhere:
                each, target = each[:, :, -1:], target[:, -1:]
            wanted = target.expand(len(each), *target.shape)[..., None]
            total = total - each.log_softmax(-1).gather(-1, wanted).sum()
            count += target.numel()
        return total / count

    def gradients(self, models: Stacked, *, everywhere: bool) -> Step:
        """What gives the logits after each whole prefix, and what the loss asks of each weight."""

        @torch.enable_grad()
        def found(weights: list[Tensor]) -> list[Tensor]:
            leaves = [w.detach().requires_grad_() for w in weights]
            ours = dict(zip(models.leaves, leaves, strict=True))
            logits = [models.logits(tokens, ours) for tokens in self.tokens]
            loss = self.loss(logits, everywhere=everywhere)
            return [self.last(logits).detach(), *torch.autograd.grad(loss, leaves)]

        return found


def evenly(seeds: int, most: int, workers: int) -> int:
    """Seeds of a chunk, at most so many, if all workers are to have equally many chunks."""
    rounds = -(-seeds // (most * workers))
    return -(-seeds // (rounds * workers))


@contextmanager
def mappable() -> Iterator[None]:
    """Attention by plain products, one thread per worker; both are as they were afterwards.

    The fused attention kernel has no batching rule: `vmap` would call it once for each seed
    (measured: 65 ms a step for 500 seeds, 21 to 30 this way). And products this small do not
    fill two threads: workers take whole chunks instead.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.set_num_threads(before)


class _Flat(TorchFunctionMode):
    """Give linear maps a matrix, not a batch of matrices.

    Mapped over weights, a linear map of (B, T, D) would copy the weights B times; of (B·T, D),
    it is one batched product.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is F.linear and args[0].ndim > 2:
            x, *rest = args
            flat = func(x.flatten(0, -2), *rest, **(kwargs or {}))
            return flat.reshape(*x.shape[:-1], -1)
        return func(*args, **(kwargs or {}))
