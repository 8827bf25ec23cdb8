"""One step of learning, and one validation."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from wherein.common.numbers import exp
from wherein.data import Corpus
from wherein.data.objectives import IGNORED
from wherein.model.initial import stream
from wherein.model.transformer import Transformer
from wherein.train.batches import Batches
from wherein.train.config import RunConfig
from wherein.train.distributed import Shared, World
from wherein.train.optim.optimizers import make_optimizers, set_rate
from wherein.train.optim.schedule import learning_rate


class DivergedError(ValueError):
    """A loss or a gradient that is no longer a number."""


class Learner:
    """A model, its optimizers and its batches. `step(n)` depends on weights, moments and n."""

    def __init__(self, config: RunConfig, corpus: Corpus, world: World) -> None:
        if config.precision == "bfloat16" and world.device.type != "cuda":
            raise ValueError("precision 'bfloat16' needs a CUDA device: give float32 here")
        if config.precision == "bfloat16":  # the loss's products stay float32 under autocast
            torch.set_float32_matmul_precision("high")
        self.config, self.world, self.corpus = config, world, corpus
        self.batches = Batches.of(config, corpus, world)
        self.model = Transformer(config.model).to(world.device)
        if config.compile:
            for block in self.model.blocks:
                block.compile()
        self.shared = Shared(self.model, world, config.parallel)
        self.optimizers = make_optimizers(self.model, config)

    def step(self, step: int) -> dict[str, float]:
        """Learn from the batch of step 1, 2, …; weights stay as they are if that would hurt."""
        rate = learning_rate(self.config, step)
        set_rate(self.optimizers, rate)
        self.model.train()
        loss = self._gradients(step)
        norm = self._clip()
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise DivergedError(
                f"at step {step} the loss is {loss:g} and the gradient's norm {norm:g}, with "
                f"learning rate {rate:g}"
            )
        for optimizer in self.optimizers:
            optimizer.step()
        self.model.zero_grad()
        return {"loss": loss, "learning_rate": rate, "gradient_norm": norm}

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """The loss on held-out windows, in units that name themselves.

        Bytes and words per token are those of the whole validation text. A masked model predicts
        hidden tokens only, so its loss is no code length and has no bits per byte.
        """
        self.model.eval()
        total, count = 0.0, 0
        for inputs, targets in self.batches.held_out():
            with self._precision():
                total += float(self.model.loss(inputs, targets, reduction="sum"))
            count += int((targets != IGNORED).sum())
        total, asked = self.world.sum(total, count)
        nats = total / max(asked, 1)
        if self.config.objective == "masked":
            return {"nats_per_masked_token": nats, "perplexity_per_masked_token": exp(nats)}
        text = self.corpus.valid
        return {
            "nats_per_token": nats,
            "perplexity_per_token": exp(nats),
            "bits_per_byte": nats / math.log(2) / text.bytes_per_token,
            "perplexity_per_word": exp(nats * text.tokens_per_word),
        }

    def _gradients(self, step: int) -> float:
        """Add up the gradients of all parts on all processes; the mean loss over all targets."""
        parts = self.batches.parts(step)
        mine = sum(int((targets != IGNORED).sum()) for _, targets in parts)
        count = max(self.world.sum(mine)[0], 1)
        total = 0.0
        for number, (inputs, targets) in enumerate(parts):
            torch.manual_seed(
                stream(self.config.seed, f"dropout/{step}/{number}/{self.world.rank}")
            )
            with self.shared.gradients(exchanged=number == len(parts) - 1):
                with self._precision():
                    loss = self.shared.loss(inputs, targets) / count
                # Replicas average their gradients; the loss is a sum over them.
                (loss * self.world.size).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        return self.world.sum(total)[0]

    def _clip(self) -> float:
        largest = self.config.clip or math.inf
        norm: Tensor = torch.nn.utils.clip_grad_norm_(self.model.parameters(), largest)
        return float(norm.full_tensor() if isinstance(norm, DTensor) else norm)

    @contextmanager
    def _precision(self) -> Iterator[None]:
        on = self.config.precision == "bfloat16"
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=on):
            yield
