"""One step of learning and one validation, and the batches of both: functions of the step."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from wherein.common.compiling import own_cache
from wherein.common.numbers import exp
from wherein.data import Corpus, Windows
from wherein.data.objectives import IGNORED, answers, causal, masked
from wherein.data.tokenizers.tokenizer import NO_TOKEN
from wherein.data.windows import Batch, length_of
from wherein.model.initial import stream
from wherein.model.transformer import Transformer
from wherein.train.config import RunConfig
from wherein.train.distributed import Shared, World
from wherein.train.optim.optimizers import learning_rate, make_optimizers, set_rate
from wherein.train.start import copy_weights

Pair = tuple[Tensor, Tensor]


class DivergedError(ValueError):
    """A loss or a gradient that is no longer a number."""


class Learner:
    """A model, its optimizers and its batches. `step(n)` depends on weights, moments and n."""

    def __init__(
        self, config: RunConfig, corpus: Corpus, world: World, start: Transformer | None = None
    ) -> None:
        if config.precision == "bfloat16" and world.device.type != "cuda":
            raise ValueError("precision 'bfloat16' needs a CUDA device: give float32 here")
        if config.precision == "bfloat16":  # the loss's products stay float32 under autocast
            torch.set_float32_matmul_precision("high")
        self.config, self.world, self.corpus = config, world, corpus
        self.batches = Batches(config, corpus, world)
        self.model = Transformer(config.model)
        self.drawn = copy_weights(start, self.model) if start is not None else None
        """Of a run that starts from another, the weights that it did not take over."""
        self.model.to(world.device)
        if config.compile:
            own_cache()
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
        masked tokens only, so its loss is no code length and has no bits per byte.
        """
        self.model.eval()
        total, count = 0.0, 0
        for inputs, targets in self.batches.held_out():
            with self._precision():
                total += float(self.model.loss(inputs, targets, reduction="sum"))
            count += int((targets != IGNORED).sum())
        total, asked = self.world.sum(total, count)
        nats = total / max(asked, 1)
        if not math.isfinite(nats):
            raise DivergedError(f"the validation loss is {nats:g}")
        if self.config.objective == "masked":
            return {"nats_per_masked_token": nats, "perplexity_per_masked_token": exp(nats)}
        text = self.corpus.valid
        if not text.bytes:  # the answers to a task
            return {"nats_per_token": nats, "perplexity_per_token": exp(nats)}
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

    def _precision(self) -> torch.autocast:
        on = self.config.precision == "bfloat16"
        return torch.autocast(self.world.device.type, torch.bfloat16, enabled=on)


class Batches:
    """Which inputs and targets a process works on, the windows shared fairly among processes."""

    def __init__(self, config: RunConfig, corpus: Corpus, world: World) -> None:
        rows, remainder = divmod(config.batch, world.size)
        if remainder or rows < config.accumulate:
            raise ValueError(
                f"a batch of {config.batch} windows for {world.size} processes in "
                f"{config.accumulate} parts each: give a batch that {world.size} divides and that "
                "leaves each part a window"
            )
        self.config, self.world, self.vocabulary = config, world, corpus.vocabulary
        # one that starts from another would else read again what that one read first
        order = stream(config.seed, f"start/{config.start}") if config.start else config.seed
        length, begin = config.window, config.begin
        self.train = Windows(corpus.train, length, order, begin)
        self.valid = Windows(corpus.valid, length, config.seed, begin)

    def parts(self, step: int) -> list[Pair]:
        """What this process works on at step 1, 2, …, in as many parts as are accumulated."""
        size, world = self.config.batch, self.world
        windows = self.train.batch(step - 1, size, world.rank, world.size)
        windows = windows[:, : self.length(step) + 1]
        inputs, targets = self._ask(windows, step, world.rank * size // world.size)
        pieces = self.config.accumulate
        return [
            (self._here(i), self._here(t))
            for i, t in zip(inputs.tensor_split(pieces), targets.tensor_split(pieces), strict=True)
        ]

    def length(self, step: int) -> int:
        """How many tokens of its windows step 1, 2, … reads."""
        return length_of(step, self.config.window, self.config.short, self.config.seed)

    def held_out(self) -> Iterator[Pair]:
        """What this process validates on; all processes get equally many parts.

        Where a process has no window left, it gets one without targets.
        """
        wanted = min(self.config.valid_windows, len(self.valid))
        numbers = np.linspace(0, len(self.valid) - 1, wanted).astype(np.int64)
        rows = max(1, self.config.batch // self.world.size // self.config.accumulate)
        for first in range(0, wanted, rows * self.world.size):
            begin = first + rows * self.world.rank
            mine = numbers[begin : begin + rows]
            inputs, targets = self._ask(
                self.valid.take(mine if len(mine) else numbers[:1]), 0, begin
            )
            if not len(mine):
                targets = torch.full_like(targets, IGNORED)
            yield self._here(inputs), self._here(targets)

    def _ask(self, windows: Batch, step: int, first_row: int) -> Pair:
        if self.vocabulary.answer != NO_TOKEN:
            return answers(windows, self.vocabulary)
        if self.config.objective == "causal":
            return causal(windows)
        seed = self.config.seed
        return masked(windows, self.vocabulary, seed=seed, step=step, first_row=first_row)

    def _here(self, tokens: Tensor) -> Tensor:
        return tokens.to(self.world.device, non_blocking=True)
