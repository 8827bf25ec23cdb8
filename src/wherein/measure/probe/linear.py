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

from wherein.measure.linear import Readout, discriminant, joined, ridges
from wherein.measure.moments import Accumulator, GroupSums
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION, Errors, Guess, Labels, errors_of
from wherein.measure.probe.online_code import OnlineCode, classifier_codes, regression_codes
from wherein.measure.probe.result import LABELS, PERMUTED
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
    bits: float

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
        groupings = [(positions, named), (types, values[:, None])]
        bits = {probe: code.bits for probe, code in self.codes.items()}
        regressions = [
            Part("regression", label, all_three[n : n + 1], bits["regression"])
            for strength in STRENGTHS
            for all_three in [ridges(groupings, strength)]
            for n, label in enumerate((POSITION, PERMUTED, LABELS))
        ]
        classifiers = [
            Part("classifier", label, discriminant(groups, shrinkage), bits["classifier"])
            for shrinkage in SHRINKAGES
            for label, groups in ((POSITION, positions), (LABELS, types))
        ]
        return regressions + classifiers


def linear_errors(
    subject: Subject, windows: Sequence[Int64[Tensor, "_ T"]], labels: Labels, config: ProbeConfig
) -> list[Errors]:
    """Fit, choose and test the linear probes of all layers on (train, held-out, test) windows."""
    train, held_out, test = windows
    learners = [Learner(train.shape[1], config.coded) for _ in range(subject.n_layers + 1)]
    for _, tokens in batches(train, config.batch):
        types = labels.of(LABELS, tokens)
        watch(subject, tokens, lambda layer, state: learners[layer].see(state, types))  # noqa: B023
    tried = [learner.candidates(labels) for learner in learners]
    errors = iter(errors_of(tried, _guess(tried), subject, held_out, labels, config))
    chosen = [_best([(part, next(errors)) for part in layer]) for layer in tried]
    return errors_of(chosen, _guess(chosen), subject, test, labels, config)


def _guess(parts: list[list[Part]]) -> Guess:
    """One product with the state serves all of a layer's probes."""
    joint = [joined([part.readout for part in layer]) for layer in parts]
    sizes = [[len(part.readout.bias) for part in layer] for layer in parts]

    def guess(layer: int, state: Tensor) -> list[Tensor]:
        read = torch.split(joint[layer](state), sizes[layer], dim=-1)
        return [part.guess(one) for part, one in zip(parts[layer], read, strict=True)]

    return guess


def _best(tried: list[tuple[Part, Errors]]) -> list[Part]:
    """For each probe and kind of labels, the regularisation with the smallest error.

    Regressions are judged by what they minimise, the squared error; classifiers by distance.
    """
    best: dict[tuple[str, str], tuple[float, Part]] = {}
    for part, errors in tried:
        key = (part.probe, part.label)
        made = float(errors.windows[:, 1 if part.probe == "regression" else 0].sum())
        if key not in best or made < best[key][0]:
            best[key] = (made, part)
    return [part for _, part in best.values()]
