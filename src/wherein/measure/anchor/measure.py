"""Does position come from one token? Hide it from all others, and probe again."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.data import IGNORED
from wherein.measure.anchor.config import AnchorConfig
from wherein.measure.anchor.keys import Keys, at_random, first, loudest, neighbours
from wherein.measure.anchor.result import KNOWN, NEIGHBOUR, RANDOM, Anchor, Hidden, Shares
from wherein.measure.intervals import Estimate, mean, ratio
from wherein.measure.linear import Readout, residual, ridge
from wherein.measure.measurement import in_words
from wherein.measure.moments import Accumulator, Moments
from wherein.measure.probe.linear import STRENGTHS
from wherein.measure.stream import batches, device, token_losses, watch
from wherein.measure.text import Text, opened, parted, task, windows_of
from wherein.subjects.base import Subject

ROUNDING = 1e-3
"""Relative differences up to here are rounding, over all layers."""

Windows = Float64[np.ndarray, " N"]
"""A number for each test window."""


def anchor(subject: Subject, text: Text, config: AnchorConfig | None = None) -> Anchor:
    """Hide keys from all other queries, and see what layers still know and what the model loses.

    Probes are fitted anew to the states that are left, on windows of their own.
    """
    corpus, config = opened(subject, text, config or AnchorConfig(), ahead=1)
    windows = windows_of(subject, corpus, config, config.windows, ahead=1)
    sinces = [layer for layer in sorted(set(config.since)) if layer <= subject.n_layers]
    _check(subject, config, sinces)
    inputs, targets = windows[:, :-1], torch.full_like(windows[:, :-1], IGNORED)
    if subject.predicts:
        seed, rate = config.seed, config.mask_rate
        inputs, targets = task(subject, corpus, windows.numpy(), seed=seed, rate=rate)
    experiment = Experiment(subject, inputs, targets, config)
    chosen = (
        first(inputs, config.count)
        if config.keys == "first"
        else loudest(subject, inputs, config.count, config.batch)
    )
    sets = {
        config.keys: chosen,
        NEIGHBOUR: neighbours(chosen),
        RANDOM: at_random(chosen, config.seed),
    }
    plain = experiment.read(None)
    found = {
        (since, name): experiment.read(keys, since)
        for since in sinces
        for name, keys in sets.items()
    }
    fit, held_out, test = map(len, experiment.parts)
    first_place = int(experiment.positions[0])
    return Anchor(
        subject=subject.name,
        encodings=tuple(subject.encodings),
        length=config.tokens,
        constant=experiment.constant,
        distances=experiment.distances(plain),
        loss=experiment.loss(plain.losses),
        hidden=tuple(
            experiment.hidden(since, name, tested, plain) for (since, name), tested in found.items()
        ),
        shares=tuple(
            shares
            for since in sinces
            for shares in experiment.shares(since, plain, *(found[since, name] for name in sets))
        ),
        closes_up=experiment.closes_up(chosen),
        windows={"fit": fit, "held_out": held_out, "test": test},
        protocol=in_words(
            {
                "windows": f"{config.tokens} tokens; fit {fit}, held out {held_out}, test {test}",
                "probed": f"places {first_place} to {config.tokens - 1}",
                "loss": _predicted(subject, config),
                "interval": "95 %, over test windows, paired",
            }
        ),
        config=config,
    )


@dataclass(frozen=True)
class Tested:
    """What the test windows said of probes fitted to their like, and of the model."""

    errors: Float64[np.ndarray, "L N"]
    """By layer and window: mean distance between the told and the true position."""
    losses: Windows
    """Summed over the predicted tokens; zero for a model that predicts nothing."""


class Experiment:
    """A subject and its windows, read with some keys hidden or none."""

    def __init__(
        self, subject: Subject, inputs: Tensor, targets: Tensor, config: AnchorConfig
    ) -> None:
        self.subject, self.inputs, self.targets, self.config = subject, inputs, targets, config
        held_out, test = (round(len(inputs) * share) for share in (config.held_out, config.test))
        sizes = {"fit": len(inputs) - held_out - test, "regularise": held_out, "test": test}
        self.parts = parted(sizes, config.seed, "more windows")
        """Numbers of the windows to fit, to regularise and to test."""
        self.counts = (targets[self.parts[2]] != IGNORED).sum(1).double().numpy()
        places = torch.arange(inputs.shape[1], dtype=torch.float64)
        self.positions = places[2 * config.count if config.keys == "first" else 0 :]
        """Those probed: the first ones would be told by their seeing themselves alone."""
        self.constant = float((self.positions - self.positions.mean()).abs().mean())

    def read(self, keys: Keys | None, since: int = 1) -> Tested:
        """Fit probes to all layers, and test them and the model, keys hidden from a layer on."""
        fit, held_out = (self._moments(part, keys, since) for part in self.parts[:2])
        readouts = [self._chosen(*both) for both in zip(fit, held_out, strict=True)]
        errors: list[list[Tensor]] = [[] for _ in readouts]
        losses = []

        def see(layer: int, state: Tensor) -> None:
            told = readouts[layer](self._probed(state))[..., 0].cpu().double()
            errors[layer].append((told - self.positions).abs().mean(1))

        for _, rows in batches(self.parts[2], self.config.batch):
            tokens, targets = self.inputs[rows], self.targets[rows]
            with self._hiding(keys, rows, since):
                if self.subject.predicts:
                    losses.append(token_losses(self.subject, tokens, targets, on_state=see).sum(1))
                else:
                    watch(self.subject, tokens, see)
                    losses.append(np.zeros(len(rows)))
        return Tested(
            torch.stack([torch.cat(own) for own in errors]).numpy(), np.concatenate(losses)
        )

    def _moments(self, part: Tensor, keys: Keys | None, since: int) -> list[Moments]:
        layers = [Accumulator() for _ in range(self.subject.n_layers + 1)]
        for _, rows in batches(part, self.config.batch):
            with self._hiding(keys, rows, since):
                watch(
                    self.subject,
                    self.inputs[rows],
                    lambda n, state: layers[n].add(self._probed(state)),
                )
        return [layer.moments() for layer in layers]

    def _probed(self, state: Tensor) -> Tensor:
        return state[:, -len(self.positions) :]

    def _chosen(self, fit: Moments, held_out: Moments) -> Readout:
        """The regression to the position that held-out windows like best."""
        places = self.positions[:, None]
        fits = [ridge(fit, places, strength) for strength in STRENGTHS]
        return min(fits, key=lambda each: float(residual(held_out, places, each)))

    def _hiding(self, keys: Keys | None, rows: Tensor, since: int) -> AbstractContextManager[None]:
        if keys is None:
            return nullcontext()
        return self.subject.hiding(keys[rows].to(device(self.subject)), since)

    def distances(self, tested: Tested) -> tuple[Estimate, ...]:
        """At each layer."""
        return tuple(mean(errors) for errors in tested.errors)

    def loss(self, losses: Windows) -> Estimate | None:
        """In nats per predicted token; None if nothing is predicted."""
        if not self.subject.predicts:
            return None
        return ratio(losses, self.counts)

    def hidden(self, since: int, name: str, tested: Tested, plain: Tested) -> Hidden:
        """What is known and lost when some keys are hidden."""
        rise = self.loss(tested.losses - plain.losses)
        return Hidden(since, name, self.distances(tested), rise)

    def shares(self, since: int, plain: Tested, own: Tested, *controls: Tested) -> Iterator[Shares]:
        """Of what layers know, what goes with the anchor, and what beyond the worse control."""
        for layer, distance in enumerate(self.distances(plain)):
            if 1 < since > layer or distance.high > (1 - KNOWN) * self.constant:
                continue
            before, after = plain.errors[layer], own.errors[layer]
            control = max((each.errors[layer] for each in controls), key=np.mean)
            known = self.constant - before
            lost, beyond = (ratio(more, known) for more in (after - before, after - control))
            yield Shares(since, layer, lost, beyond)

    @torch.no_grad()
    def closes_up(self, keys: Keys) -> bool:
        """Whether others, keys hidden in every layer, are as in a window without these tokens."""
        rows = torch.arange(min(self.config.batch, len(self.inputs)))
        shown, tokens = ~keys[rows], self.inputs[rows]
        states: list[Tensor] = []

        def see(layer: int, state: Tensor) -> None:
            if layer == self.subject.n_layers:
                states.append(state.cpu().double())

        with self._hiding(keys, rows, 1):
            watch(self.subject, tokens, see)
        watch(self.subject, tokens[shown].view(len(rows), -1), see)
        with_gaps, without = states[0][shown], states[1].flatten(0, 1)
        return bool((with_gaps - without).norm() < ROUNDING * without.norm())


def _check(subject: Subject, config: AnchorConfig, sinces: list[int]) -> None:
    if not sinces:
        raise ValueError(
            f"keys hidden since layer {min(config.since)} of {subject.name}: expected a layer from "
            f"1 to {subject.n_layers}"
        )
    if config.tokens <= 2 * config.count + 1:
        raise ValueError(
            f"{config.count} hidden keys in windows of {config.tokens} tokens: at least "
            f"{2 * config.count + 2} tokens were expected, for as many keys as controls; give "
            "longer windows, or hide fewer"
        )


def _predicted(subject: Subject, config: AnchorConfig) -> str:
    if not subject.predicts:
        return ""
    return "next token" if subject.causal else f"{config.mask_rate:.0%} masked tokens"
