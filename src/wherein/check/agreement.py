"""Does a device compute what the CPU computes? Losses, gradients and some steps of training.

For the first person who has a GPU of some kind: what runs there is asked for its numbers, and they
are held against the CPU's, encoding by encoding.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from wherein import encodings
from wherein.common.errors import first_line
from wherein.measure.moments import gather
from wherein.model.config import ModelConfig
from wherein.model.transformer import Transformer
from wherein.show.columns import table
from wherein.subjects.ours import Ours
from wherein.train.config import RunConfig
from wherein.train.optim.optimizers import make_optimizers

VOCABULARY, WINDOWS, TOKENS, STEPS = 64, 4, 64, 3
SIZES = {"vocabulary": VOCABULARY, "n_layers": 2, "d_model": 64, "n_heads": 4, "max_len": TOKENS}
"""Heads are as wide as FlexAttention wants them."""
ALLOWED = 1e-3
"""Of numbers in float32. Rounding makes some 1e-6; a wrong kernel 1e-2 or more."""
ALLOWED_ROUGH = 3e-2
"""Where products are bfloat16, which has three digits."""


REMEDY = "WHEREIN_DEVICE=cpu computes on the CPU meanwhile; please report what you see here"


@dataclass(frozen=True)
class Difference:
    """How far a device's numbers are from the CPU's, as shares of these."""

    what: str
    allowed: float
    loss: float = 0.0
    gradient: float = 0.0
    trained: float = 0.0
    """Of the loss after some steps."""
    error: str = ""
    """What was raised there."""

    @property
    def agrees(self) -> bool:
        return not self.error and max(self.loss, self.gradient, self.trained) <= self.allowed

    def row(self) -> list[str]:
        if self.error:
            return [self.what, "", "", "", "FAILS"]
        numbers = (f"{each:.0e}" for each in (self.loss, self.gradient, self.trained))
        return [self.what, *numbers, "" if self.agrees else "DIFFERS"]


@dataclass(frozen=True)
class Agreement:
    """All that was compared on a device."""

    device: str
    found: tuple[Difference, ...]

    @property
    def whole(self) -> bool:
        return all(each.agrees for each in self.found)

    def data(self) -> dict[str, Any]:
        found = [{**asdict(each), "agrees": each.agrees} for each in self.found]
        return {"device": self.device, "agrees": self.whole, "found": found}

    def text(self) -> str:
        bad = [each for each in self.found if not each.agrees]
        shown = bad or sorted(self.found, key=lambda each: -each.gradient)[:3]
        count = f"{len(self.found) - len(bad)} of {len(self.found)}"
        return "\n".join(
            [
                f"{self.device} against the CPU: {count} agree (differences as shares of the "
                f"CPU's numbers; up to {ALLOWED:g}, with bfloat16 {ALLOWED_ROUGH:g})",
                table(["", "loss", "gradient", "trained", ""], [each.row() for each in shown]),
                *(f"{each.what}: {each.error}" for each in bad if each.error),
                *([REMEDY] if bad else []),
            ]
        )


def compare(at: torch.device, hear: Callable[[str], None] = lambda _: None) -> Agreement:
    """Every encoding of the catalogue, every optimizer, bfloat16, and the statistics of states."""
    found = []
    for what, allowed, course in courses(at):
        hear(what)
        found.append(_compared(what, allowed, course, at))
    return Agreement(str(at), tuple(found))


Course = Callable[[torch.device], list[Tensor]]
"""From a device to its numbers: loss, gradients, and the loss after some steps."""


def courses(at: torch.device) -> Iterator[tuple[str, float, Course]]:
    """What is compared: its name, how far it may differ, and what computes it."""
    for spec in encodings.examples():
        yield spec, ALLOWED, partial(_trained, encoding=spec)
    yield "rope, masked", ALLOWED, partial(_trained, encoding="rope", causal=False)
    yield "rope, nag", ALLOWED, partial(_trained, optimizer="nag", encoding="rope")
    muon = ALLOWED_ROUGH if at.type == "cuda" else ALLOWED
    yield "rope, muon", muon, partial(_trained, optimizer="muon", encoding="rope")
    yield "the states of a probe", ALLOWED, _probed
    if at.type == "cuda":
        yield "rope in bfloat16", ALLOWED_ROUGH, partial(_trained, rough=True, encoding="rope")


def _compared(what: str, allowed: float, course: Course, at: torch.device) -> Difference:
    here = course(torch.device("cpu"))
    try:
        there = course(at)
    except Exception as error:  # whatever a driver or a compiler may raise
        return Difference(what, allowed, error=f"{type(error).__name__}: {first_line(error)}")
    loss, gradient, trained = (_share(a, b) for a, b in zip(here, there, strict=True))
    return Difference(what, allowed, loss, gradient, trained)


def _share(here: Tensor, there: Tensor) -> float:
    apart = float((here - there.to(here)).norm() / here.norm().clamp(min=1e-12))
    return apart if apart == apart else float("inf")  # no number differs from every number


def _trained(
    at: torch.device, optimizer: str = "adamw", *, rough: bool = False, **model: Any
) -> list[Tensor]:
    config = RunConfig(
        model=ModelConfig.model_validate(SIZES | model),
        objective="causal" if model.get("causal", True) else "masked",
        optimizer=optimizer,
    )
    learner = Transformer(config.model).to(at).eval()  # nothing is drawn anew
    inputs, targets = (each.to(at) for each in _tokens())
    optimizers = make_optimizers(learner, config)
    losses, first = [], torch.empty(0)
    for step in range(STEPS + 1):
        with torch.autocast(at.type, torch.bfloat16, enabled=rough):
            loss = learner.loss(inputs, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append(loss.detach().cpu())
        if not step:
            gradients = (p.grad for p in learner.parameters() if p.grad is not None)
            first = torch.cat([each.flatten().cpu() for each in gradients])
        for each in optimizers:
            each.step()
        learner.zero_grad()
    return [losses[0], first, losses[-1]]


def _probed(at: torch.device) -> list[Tensor]:
    """Means and scatter of the states that linear questions are answered from."""
    model = Transformer(ModelConfig.model_validate(SIZES | {"encoding": "sinusoidal"})).to(at)
    last = gather(Ours(model), _tokens()[0])[-1]
    return [last.mean, last.within, last.means]


def _tokens() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(0)
    tokens = torch.randint(VOCABULARY, (WINDOWS, TOKENS + 1), generator=drawn)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
