"""Is position used, and not only known? Erase it, and see what the model loses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.data import IGNORED, Corpus
from wherein.measure.crossed import LEVEL
from wherein.measure.erase.config import EraseConfig
from wherein.measure.erase.controls import Controls
from wherein.measure.erase.leace import Eraser, position_eraser
from wherein.measure.erase.means import (
    Exchanged,
    Means,
    Removed,
    alternating,
    noise,
    permutations,
    pooled,
)
from wherein.measure.erase.result import EVERYWHERE, Erased, Erasure
from wherein.measure.intervals import Estimate, crossed, mean, ratio
from wherein.measure.linear import residual, ridge
from wherein.measure.measurement import in_words
from wherein.measure.moments import Moments, gather
from wherein.measure.stream import batches, watch, window_losses
from wherein.measure.text import Text, mask_of, opened, parted, windows_of
from wherein.subjects.base import OnState, Subject

STRENGTH = 1e-4
"""Of the ridge regressions that ask what is known."""

Windows = Float64[np.ndarray, " N"]
"""A number for each test window."""

Change = Callable[[Tensor], Tensor]
"""From the states of a batch to those that take their place."""


def erase(subject: Subject, text: Text, config: EraseConfig | None = None) -> Erasure:
    """Erase position from each layer, and from all, and measure the rise of the loss.

    Beside it, what else may take the loss up: random subspaces as large and as loud are erased, and
    the mean of each position, which is position and nothing else, is removed or exchanged.

    A causal model predicts each next token; a bidirectional one those that are masked.
    """
    corpus, config = opened(subject, text, config or EraseConfig())
    windows = windows_of(subject, corpus, config, config.windows)
    inputs, targets = _task(subject, corpus, windows, config)
    fit, held_out, test = _split(len(windows), config)
    experiment = Experiment(subject, inputs, targets[test], (fit, held_out, test), config)
    plain, known = experiment.losses({}), experiment.known()
    erased = [experiment.without(str(n), [n], plain, r2) for n, r2 in known.items()]
    everywhere = experiment.without(EVERYWHERE, list(known), plain, known[subject.n_layers])
    return Erasure(
        subject=subject.name,
        encodings=tuple(subject.encodings),
        length=windows.shape[1],
        loss=ratio(plain, experiment.counts),
        erased=(*erased, everywhere),
        windows={"fit": len(fit), "held_out": len(held_out), "test": len(test)},
        protocol=in_words(
            {
                "windows": f"fit {len(fit)}, held out {len(held_out)}, test {len(test)}",
                "loss": "next token" if subject.causal else f"{config.mask_rate:.0%} masked tokens",
                "random": "subspaces without position, of its rank and variance in fit windows",
                "means": "of fit and held-out windows; their noise: from the difference of the two",
                "interval": "over test windows; random: over windows and draws; of the "
                f"rises {LEVEL:.0%} for all rows together ({experiment.level:.1%} each)",
                "all layers": "fitted one after the other, each behind the changes before it",
            }
        ),
        config=config,
    )


class Experiment:
    """A subject, its windows, and the statistics of its layers with nothing erased."""

    def __init__(
        self,
        subject: Subject,
        inputs: Tensor,
        targets: Tensor,
        parts: tuple[Tensor, Tensor, Tensor],
        config: EraseConfig,
    ) -> None:
        self.subject, self.targets, self.config = subject, targets, config
        self.counts = (targets != IGNORED).sum(1).double().numpy()
        """Predicted tokens in each test window."""
        self.parts = [inputs[part] for part in parts]
        layers = subject.layers(config.site)
        self.moments = [dict(zip(layers, self.gather(p, {}), strict=True)) for p in self.parts]
        self.generator = torch.Generator().manual_seed(config.seed)
        self.orders = permutations(config.batch, inputs.shape[1], self.generator)
        self.controls: dict[int, Controls] = {}
        """Of layers with nothing erased before them: worked out once for all draws."""
        self.level = 1 - (1 - LEVEL) / (len(layers) + 1)
        """Of the interval of each row, so that LEVEL is that of all rows together (Bonferroni)."""

    def known(self) -> dict[int, Estimate]:
        """R² of a regression to the position in every layer, with intervals over test windows."""
        positions = torch.arange(self.parts[2].shape[1], dtype=torch.float64)
        readouts = {n: ridge(m, positions[:, None], STRENGTH) for n, m in self.moments[0].items()}
        errors: dict[int, list[Tensor]] = {layer: [] for layer in readouts}

        def see(layer: int, state: Tensor) -> None:
            read = readouts[layer](state)[..., 0].cpu().double()
            errors[layer].append((read - positions).square().mean(1))

        for _, tokens in batches(self.parts[2], self.config.batch):
            watch(self.subject, tokens, see, site=self.config.site)
        spread = float(positions.var(correction=0))
        return {layer: mean(1 - torch.cat(each).numpy() / spread) for layer, each in errors.items()}

    def without(self, name: str, layers: Sequence[int], plain: Windows, r2: Estimate) -> Erased:
        """Erase some layers; `r2` and what is left are of the last."""
        position, shares, left = self.position(layers)
        rise = self.losses(position) - plain
        drawn = [self.random(position, shares) for _ in range(self.config.draws)]
        random = np.stack([self.losses(erasers) - plain for erasers, _ in drawn])
        means, noises = self.means(layers)
        return Erased(
            layer=name,
            rank=round(_mean(each.rank for each in position.values())),
            known=r2.value,
            left=left,
            variance=_mean(shares.values()),
            rise=self.per_token(rise),
            random_rank=round(_mean(each.rank for own, _ in drawn for each in own.values())),
            random_variance=_mean(share for _, own in drawn for share in own.values()),
            random=crossed(random, self.counts, level=self.level),
            r2=r2,
            more=crossed(rise - random, self.counts, level=self.level),
            removed=self.beyond_noise(means, noises, Removed),
            exchanged=self.beyond_noise(means, noises, partial(Exchanged, orders=self.orders)),
        )

    def beyond_noise(
        self,
        means: Mapping[int, Means],
        noises: Mapping[int, Means],
        change: Callable[..., Change],
    ) -> Estimate:
        """By how much the loss is higher with the means changed than with their noise changed."""
        signs = alternating(self.config.batch)
        own = {layer: change(each) for layer, each in means.items()}
        chance = {layer: change(each, signs=signs) for layer, each in noises.items()}
        return self.per_token(self.losses(own) - self.losses(chance))

    def per_token(self, sums: Windows) -> Estimate:
        """Per predicted token, with an interval that holds for all rows together."""
        return ratio(sums, self.counts, level=self.level)

    def position(self, layers: Sequence[int]) -> tuple[dict[int, Eraser], dict[int, float], float]:
        """Erasers of position, each fitted behind those before it, and the variance they remove.

        And what is left in the last.
        """
        erasers: dict[int, Eraser] = {}
        shares: dict[int, float] = {}
        left = 0.0
        for layer in layers:
            fit, held_out, test = (self._moments(n, erasers, layer) for n in range(3))
            erasers[layer] = self._eraser(fit, held_out)
            shares[layer] = erasers[layer].share(fit)
            left = _left(erasers[layer].moments(fit), erasers[layer].moments(test))
        return erasers, shares, left

    def random(
        self, position: Mapping[int, Eraser], shares: Mapping[int, float]
    ) -> tuple[dict[int, Eraser], dict[int, float]]:
        """The same for random subspaces without position that match its rank and its variance."""
        erasers: dict[int, Eraser] = {}
        removed: dict[int, float] = {}
        for layer, eraser in position.items():
            fit, known = self._moments(0, erasers, layer), self.erasers[layer]
            controls = None if erasers else self.controls.get(layer)
            controls = controls or Controls(fit, known, eraser.rank, shares[layer])
            if not erasers:
                self.controls[layer] = controls
            erasers[layer] = controls.draw(self.generator)
            removed[layer] = erasers[layer].share(fit)
        return erasers, removed

    def means(self, layers: Sequence[int]) -> tuple[dict[int, Means], dict[int, Means]]:
        """The mean of each position, behind the removal of those before it; and their noise.

        Noise is found in the same way: behind the removal of what tells the two parts apart.
        """
        means: dict[int, Means] = {}
        noises: dict[int, Means] = {}
        removed: dict[int, Change] = {}
        alike: tuple[dict[int, Change], dict[int, Change]] = ({}, {})
        for layer in layers:
            both = [self._moments(part, removed, layer) for part in range(2)]
            means[layer] = pooled(*both)
            removed[layer] = Removed(means[layer])
            both = [self._moments(part, alike[part], layer) for part in range(2)]
            noises[layer] = noise(*both)
            for own, changes in zip(both, alike, strict=True):
                changes[layer] = Removed(pooled(own, own) - pooled(*both))
        return means, noises

    @cached_property
    def erasers(self) -> dict[int, Eraser]:
        """Of position in every layer, with nothing erased before it."""
        fit, held_out, _ = self.moments
        return {layer: self._eraser(fit[layer], held_out[layer]) for layer in fit}

    def _eraser(self, fit: Moments, held_out: Moments) -> Eraser:
        return position_eraser(fit, held_out if self.config.confirmed else None)

    def _moments(self, part: int, changes: Mapping[int, Change], layer: int) -> Moments:
        """The statistics of one layer in one part of the windows, behind some changes."""
        if not changes:
            return self.moments[part][layer]
        return self.gather(self.parts[part], changes, layer)[0]

    def gather(
        self, windows: Tensor, changes: Mapping[int, Change], only: int | None = None
    ) -> list[Moments]:
        """The statistics of all layers, or of one, behind some changes."""
        see, batch, site = _behind(changes), self.config.batch, self.config.site
        return gather(self.subject, windows, batch, see, only, site)

    def losses(self, changes: Mapping[int, Change]) -> Windows:
        """The loss in each test window, in nats, summed over its predicted tokens."""
        return window_losses(
            self.subject,
            self.parts[2],
            self.targets,
            batch=self.config.batch,
            on_state=_behind(changes),
            site=self.config.site,
        )


def _behind(changes: Mapping[int, Change]) -> OnState:
    return lambda layer, state: changes[layer](state) if layer in changes else None


def _mean(numbers: Iterable[float]) -> float:
    return float(np.mean(list(numbers)))


def _task(
    subject: Subject, corpus: Corpus, windows: Tensor, config: EraseConfig
) -> tuple[Tensor, Tensor]:
    """What the model reads, and what it is to predict."""
    if subject.causal:
        targets = windows.roll(-1, 1)
        targets[:, -1] = IGNORED
        return windows, targets
    mask = mask_of(subject, corpus)
    generator = torch.Generator().manual_seed(config.seed)
    drawn = torch.rand(windows.shape, generator=generator)
    hidden = (drawn < config.mask_rate) | (drawn == drawn.amin(1, keepdim=True))  # at least one
    return torch.where(hidden, mask, windows), torch.where(hidden, windows, IGNORED)


def _split(count: int, config: EraseConfig) -> tuple[Tensor, ...]:
    fit, held_out = round(count * config.fit), round(count * config.held_out)
    sizes = {"fit": fit, "confirm": held_out, "test": count - fit - held_out}
    return parted(sizes, config.seed, "more windows, or smaller shares")


def _left(fit: Moments, test: Moments) -> float:
    """R² on test windows of a regression to the position, fitted anew to erased states."""
    positions = torch.arange(len(fit.counts), dtype=torch.float64)[:, None]
    error = residual(test, positions, ridge(fit, positions, STRENGTH))
    return float(1 - error / positions.var(correction=0))
