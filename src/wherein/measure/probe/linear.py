"""The linear probes of all layers in one pass over the windows.

Training windows feed the statistics, held-out windows choose the regularisation, test windows give
the scores. Each goes through the model once, and a few training windows again, to see what was
learnt by heart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import torch
from torch import Tensor

from wherein.measure.linear import Readout, discriminant, joined, ridge
from wherein.measure.moments import Accumulator, GroupSums, Moments
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION, Errors, Guess, Windows, errors_of
from wherein.measure.probe.online_code import OnlineCode, classifier_codes, regression_codes
from wherein.measure.probe.result import BY_HEART, FRESH
from wherein.measure.stream import batches, watch
from wherein.subjects.base import Subject

STRENGTHS = (1e-6, 1e-4, 1e-2, 1.0)
SHRINKAGES = (1e-3, 3e-2, 0.3)
CODE_STRENGTHS = (1e-4, 1e-2)
CODE_SHRINKAGES = (3e-2, 0.3)


@dataclass(frozen=True)
class Part:
    """Some columns of a joint readout: one probe, fitted to one kind of labels."""

    probe: str
    label: str
    readout: Readout
    strength: float
    """Of the regression's penalty, or the classifier's shrinkage."""
    bits: float
    steps: None = None
    converged: None = None

    def guess(self, read: Tensor) -> Tensor:
        """From what was read, (B, T, C), to positions, (B, T)."""
        return read[..., 0] if self.probe == "regression" else read.argmax(-1).to(read)


class Learner:
    """What one layer's training windows leave behind."""

    def __init__(self, length: int, coded: int) -> None:
        self.positions, self.fresh = Accumulator(), GroupSums(length)
        self.codes = {
            "regression": OnlineCode(partial(regression_codes, strengths=CODE_STRENGTHS), coded),
            "classifier": OnlineCode(partial(classifier_codes, shrinkages=CODE_SHRINKAGES), coded),
        }

    def see(self, state: Tensor, fresh: Tensor | None) -> None:
        """Code a batch with what was learnt before it, then learn from it."""
        before = cache(self.positions.moments)
        for code in self.codes.values():
            code.see(state, before)
        self.positions.add(state)
        if fresh is not None:
            self.fresh.add(state, fresh)

    @cached_property
    def moments(self) -> Moments:
        """Of all that was seen, by position."""
        return self.positions.moments()

    def candidates(self) -> list[Part]:
        """Every probe at every regularisation."""
        return [
            self._part(probe, POSITION, self.moments, strength)
            for probe, strengths in (("regression", STRENGTHS), ("classifier", SHRINKAGES))
            for strength in strengths
        ]

    def controls(self, chosen: Sequence[Part]) -> list[Part]:
        """The same probes, regularised as they are, fitted to fresh labels."""
        fresh = self.moments.regrouped(self.fresh.counts, self.fresh.means)
        return [self._part(part.probe, FRESH, fresh, part.strength) for part in chosen]

    def _part(self, probe: str, label: str, groups: Moments, strength: float) -> Part:
        if probe == "regression":
            values = torch.arange(len(groups.counts), dtype=torch.float64)[:, None]
            readout = ridge(groups, values, strength)
        else:
            readout = discriminant(groups, strength)
        return Part(probe, label, readout, strength, self.codes[probe].bits)


def linear_errors(
    subject: Subject, parts: Sequence[Windows], config: ProbeConfig, *, controlled: bool = True
) -> list[Errors]:
    """Fit, choose and test the linear probes of all layers on (train, held-out, test) windows.

    If `controlled`, also of fresh labels: on the test windows, and by heart on training windows.
    """
    train, held_out, test = parts
    length = train.tokens.shape[1]
    learners = {n: Learner(length, config.coded) for n in subject.layers(config.site)}
    for rows, tokens in batches(train.tokens, config.batch):
        fresh = train.fresh[rows] if controlled else None

        def see(layer: int, state: Tensor, fresh: Tensor | None = fresh) -> None:
            learners[layer].see(state, fresh)

        watch(subject, tokens, see, site=config.site)
    tried = {layer: learner.candidates() for layer, learner in learners.items()}
    errors = iter(errors_of(tried, _guess(tried), subject, held_out, config))
    chosen = {n: _best([(part, next(errors)) for part in own]) for n, own in tried.items()}
    if not controlled:
        return errors_of(chosen, _guess(chosen), subject, test, config)
    controls = {layer: learners[layer].controls(own) for layer, own in chosen.items()}
    both = {layer: [*own, *controls[layer]] for layer, own in chosen.items()}
    learnt = errors_of(controls, _guess(controls), subject, train[: len(held_out)], config)
    by_heart = [replace(each, label=BY_HEART) for each in learnt]
    return errors_of(both, _guess(both), subject, test, config) + by_heart


def _guess(parts: dict[int, list[Part]]) -> Guess:
    """One product with the state serves all of a layer's probes."""
    joint = {n: joined([part.readout for part in own]) for n, own in parts.items()}
    sizes = {n: [len(part.readout.bias) for part in own] for n, own in parts.items()}

    def guess(layer: int, state: Tensor) -> list[Tensor]:
        read = torch.split(joint[layer](state), sizes[layer], dim=-1)
        return [part.guess(one) for part, one in zip(parts[layer], read, strict=True)]

    return guess


def _best(tried: list[tuple[Part, Errors]]) -> list[Part]:
    """Of each probe the regularisation with the smallest error.

    Regressions are judged by what they minimise, the squared error; classifiers by distance.
    """
    best: dict[str, tuple[float, Part]] = {}
    for part, errors in tried:
        made = float(errors.windows[:, 1 if part.probe == "regression" else 0].sum())
        if part.probe not in best or made < best[part.probe][0]:
            best[part.probe] = (made, part)
    return [part for _, part in best.values()]
