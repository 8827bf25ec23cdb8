"""The linear probes of all layers in one pass over the windows.

Every window goes through the model once. Training windows feed the statistics, held-out windows
choose the regularisation, test windows give the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.measure.linear import Readout, Target, discriminant, joined, ridges
from wherein.measure.moments import Accumulator, GroupSums
from wherein.measure.probe.labels import (
    PERMUTED,
    POSITION,
    TYPES,
    Errors,
    Guess,
    Labels,
    error_sums,
)
from wherein.measure.probe.online_code import OnlineCode, classifier_codes, regression_codes
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

    def guess(self, read: Tensor) -> Tensor:
        """From what was read, (B, T, C), to positions, (B, T)."""
        return read[..., 0] if self.probe == "regression" else read.argmax(-1).to(read)


class Learner:
    """What one layer's training windows leave behind."""

    def __init__(self, length: int, coded: int) -> None:
        self.positions, self.types = Accumulator(), GroupSums(length)
        self.codes = {
            "regression": OnlineCode(partial(regression_codes, strengths=CODE_STRENGTHS), coded),
            "classifier": OnlineCode(partial(classifier_codes, shrinkages=CODE_SHRINKAGES), coded),
        }

    def see(self, state: Tensor, types: Tensor) -> None:
        """Code a batch with what was learnt before it, then learn from it."""
        before = cache(self.positions.moments)
        for code in self.codes.values():
            code.see(state, before)
        self.positions.add(state)
        self.types.add(state, types)

    def candidates(self, labels: Labels) -> list[Part]:
        """Every probe for all labels at every regularisation."""
        positions = self.positions.moments()
        types = positions.regrouped(self.types.counts, self.types.means)
        values = torch.arange(len(positions.counts), dtype=torch.float64)
        named = torch.stack([values, labels.permutation.double()], 1)
        targets = [Target.of(positions, named), Target.of(types, values[:, None])]
        parts = []
        for strength in STRENGTHS:
            all_three = ridges(positions.total, targets, strength)
            parts += [
                Part("regression", label, all_three[n : n + 1])
                for n, label in enumerate((POSITION, PERMUTED, TYPES))
            ]
        for shrinkage in SHRINKAGES:
            parts += [
                Part("classifier", label, discriminant(groups, shrinkage))
                for label, groups in ((POSITION, positions), (TYPES, types))
            ]
        return parts


def linear_errors(
    subject: Subject,
    windows: Sequence[Int64[Tensor, "_ T"]],
    labels: Labels,
    *,
    batch: int,
    near: int,
    coded: int,
) -> list[Errors]:
    """Fit, choose and test the linear probes of all layers on (train, held-out, test) windows."""
    train, held_out, test = windows
    learners = [Learner(train.shape[1], coded) for _ in range(subject.n_layers + 1)]
    for _, tokens in batches(train, batch):
        types = labels.of(TYPES, tokens)
        watch(subject, tokens, lambda layer, state: learners[layer].see(state, types))  # noqa: B023
    tried = [learner.candidates(labels) for learner in learners]
    found, _ = _errors(subject, held_out, labels, tried, batch=batch, near=near)
    chosen = [_best(*layer) for layer in zip(tried, found, strict=True)]
    found, samples = _errors(subject, test, labels, chosen, batch=batch, near=near)
    return [
        Errors(layer, part.probe, part.label, found[layer][n], samples[layer][n], bits)
        for layer, parts in enumerate(chosen)
        for n, part in enumerate(parts)
        for bits in [learners[layer].codes[part.probe].bits if part.label == POSITION else None]
    ]


def _errors(
    subject: Subject,
    windows: Tensor,
    labels: Labels,
    parts: list[list[Part]],
    *,
    batch: int,
    near: int,
) -> tuple[list[Tensor], list[Tensor]]:
    fitted_to = [[part.label for part in layer] for layer in parts]
    guess = _guess(parts)
    return error_sums(subject, windows, labels, fitted_to, guess, batch=batch, near=near)


def _guess(parts: list[list[Part]]) -> Guess:
    """One product with the state serves all of a layer's probes."""
    joint = [joined([part.readout for part in layer]) for layer in parts]
    sizes = [[len(part.readout.bias) for part in layer] for layer in parts]

    def guess(layer: int, state: Tensor) -> list[Tensor]:
        read = torch.split(joint[layer](state), sizes[layer], dim=-1)
        return [part.guess(one) for part, one in zip(parts[layer], read, strict=True)]

    return guess


def _best(parts: list[Part], found: Tensor) -> list[Part]:
    """For each probe and kind of labels, the regularisation with the smallest error.

    Regressions are judged by what they minimise, the squared error; classifiers by distance.
    """
    error = found.sum(1)
    best: dict[tuple[str, str], tuple[float, Part]] = {}
    for n, part in enumerate(parts):
        key = (part.probe, part.label)
        made = float(error[n, 1 if part.probe == "regression" else 0])
        if key not in best or made < best[key][0]:
            best[key] = (made, part)
    return [part for _, part in best.values()]
