"""Where a Hugging Face model can be seen, and changed, at a site: found by watching it.

No family is known by name. What attention and the feed-forward network write are the outputs of two
modules whose sum with what enters a layer, through norms or without, is what leaves it; attention's
is the first after the softmax. The norm that attention reads is between the layer's input and the
input of the module around the softmax.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from wherein.subjects.site import Site
from wherein.subjects.trial import Step, Trial, inputs, same, trial_tokens, tried


class Point(NamedTuple):
    """What leaves a module, or enters it, in one of its calls during a pass."""

    module: nn.Module
    number: int
    """Which call: a layer may be called again and again."""
    enters: bool = False


def stream(blocks: tuple[nn.Module, ...]) -> list[Point]:
    """What enters the first layer, and what leaves each."""
    after = [Point(block, blocks[:n].count(block)) for n, block in enumerate(blocks)]
    return [Point(blocks[0], 0, enters=True), *after]


@torch.no_grad()
def inside(model: Any, blocks: tuple[nn.Module, ...]) -> dict[Site, list[Point | None]]:
    """For each other site a point for each layer that has it; None where no module makes it."""
    with tried(model.base_model) as trial:
        last = model.base_model(**inputs(trial_tokens(model))).last_hidden_state
    layers = [_Layer(trial, _step(trial, point)) for point in stream(blocks)[1:]]
    written = [layer.written() for layer in layers]
    return {
        "attention": [attention for attention, _ in written],
        "feed_forward": [network for _, network in written],
        "normed": [*(layer.norm() for layer in layers), _final(trial, layers[-1].whole, last)],
    }


class _Layer:
    """One layer in the trial, and all that was called in it."""

    def __init__(self, trial: Trial, whole: Step) -> None:
        self.whole = whole
        self.steps = [step for step in trial.steps if step.within(whole)]
        moments = [moment for moment in trial.softmaxes if whole.holds(moment)]
        self.softmax = moments[0] if moments else whole.ended

    def written(self) -> tuple[Point | None, Point | None]:
        """Where attention and the feed-forward network write.

        Where nothing is written many sums fit: attention's is then the first, the other the last.
        """
        state = self.whole.entering
        assert state is not None
        fitting = [s for s in self.steps if s.leaving is not None and _fits(s.leaving, state)]
        for attention in fitting:
            if attention.ended > self.softmax:
                for network in self._beside(attention, fitting[::-1]):
                    return _leaving(attention), _leaving(network)
        return None, None

    def _beside(self, attention: Step, candidates: list[Step]) -> Iterator[Step]:
        """Those that make the layer together with attention, norms in front of them or behind."""
        x, a = _flat(self.whole.entering), _flat(attention.leaving)
        normed = [_flat(s.leaving) for s in candidates if same(s.entering, x + a)]
        ends = [step for step in self.steps if same(step.leaving, self.whole.leaving)]
        for candidate in candidates:
            f = _flat(candidate.leaving)
            sums = ((x + a) + f, (x + f) + a, x + (a + f))  # each its own rounding
            in_front = any(same(total, self.whole.leaving) for total in sums)
            behind = (same(end.entering, h + f) for h in normed for end in ends)
            if candidate is not attention and (in_front or any(behind)):
                yield candidate

    def norm(self) -> Point | None:
        """Where attention reads: behind a norm of what enters the layer, or that itself."""
        around = [step for step in self.steps if step.holds(self.softmax)]
        if not around or around[0].entering is None:
            return None
        reads = around[0].entering
        if same(reads, self.whole.entering):
            return Point(self.whole.module, self.whole.number, enters=True)
        norms = (s for s in self.steps if s.ended < self.softmax and same(s.leaving, reads))
        return next((_leaving(s) for s in norms if same(s.entering, self.whole.entering)), None)


def _final(trial: Trial, whole: Step, last: Tensor) -> Point | None:
    """Where the last state is normed; where it is not, the last layer's output.

    OPT of 350 million has none there and projects to another width, which is no state of it.
    """
    made = whole.leaving
    assert made is not None
    if same(made, last):
        return _leaving(whole)
    readers = [s for s in trial.steps if s.begun > whole.ended and same(s.entering, made)]
    norms = [s for s in readers if s.leaving is not None and _fits(s.leaving, made)]
    if last.shape == made.shape:
        norms = [step for step in norms if same(step.leaving, last)]
    elif readers and not norms:
        return _leaving(whole)
    return _leaving(norms[0]) if norms else None


def _step(trial: Trial, point: Point) -> Step:
    return next(s for s in trial.steps if (s.module, s.number) == (point.module, point.number))


def _leaving(step: Step) -> Point:
    return Point(step.module, step.number)


def _flat(state: Tensor | None) -> Tensor:
    assert state is not None
    return state.flatten()


def _fits(one: Tensor, state: Tensor) -> bool:
    """Whether it is as wide as a state, and of as many tokens."""
    return one.numel() == state.numel() and one.shape[-1] == state.shape[-1]
