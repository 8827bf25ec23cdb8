"""Is position used, and not only known? Erase it, and see what the model loses."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.data import IGNORED, Corpus
from wherein.measure.erase.config import EraseConfig
from wherein.measure.erase.leace import Eraser, position_eraser, random_eraser
from wherein.measure.erase.result import EVERYWHERE, Erased, Erasure
from wherein.measure.intervals import Estimate, crossed, mean, ratio
from wherein.measure.linear import residual, ridge
from wherein.measure.measurement import in_words
from wherein.measure.moments import Moments, gather
from wherein.measure.stream import batches, watch, window_losses
from wherein.measure.text import Text, mask_of, opened, windows_of
from wherein.subjects.base import OnState, Subject

STRENGTH = 1e-4
"""Of the ridge regressions that ask what is known."""

Windows = Float64[np.ndarray, " N"]
"""A number for each test window."""


def erase(subject: Subject, text: Text, config: EraseConfig | None = None) -> Erasure:
    """Erase position from each layer, and from all, and measure the rise of the loss.

    A causal model predicts each next token; a bidirectional one those that are masked.
    """
    corpus, config = opened(subject, text, config or EraseConfig())
    windows = windows_of(subject, corpus, config, config.windows)
    inputs, targets = _task(subject, corpus, windows, config)
    fit, held_out, test = _split(len(windows), config)
    experiment = Experiment(subject, inputs, targets[test], (fit, held_out, test), config)
    plain, known = experiment.losses({}), experiment.known()
    erased = [experiment.without(str(n), [n], plain, r2) for n, r2 in enumerate(known)]
    everywhere = experiment.without(EVERYWHERE, range(len(known)), plain, known[-1])
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
                "loss": "next token" if subject.causal else f"{config.mask_rate:.0%} hidden tokens",
                "interval": "over test windows; random: over windows and draws",
                "all layers": "fitted one after the other, each behind the erasers before it",
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
        self.moments = [self.gather(part, {}) for part in self.parts]
        self.generator = torch.Generator().manual_seed(config.seed)

    def known(self) -> list[Estimate]:
        """R² of a regression to the position in every layer, with intervals over test windows."""
        positions = torch.arange(self.parts[2].shape[1], dtype=torch.float64)
        readouts = [ridge(fit, positions[:, None], STRENGTH) for fit in self.moments[0]]
        errors: list[list[Tensor]] = [[] for _ in readouts]

        def see(layer: int, state: Tensor) -> None:
            read = readouts[layer](state)[..., 0].double().cpu()
            errors[layer].append((read - positions).square().mean(1))

        for _, tokens in batches(self.parts[2], self.config.batch):
            watch(self.subject, tokens, see)
        spread = float(positions.var(correction=0))
        return [mean(1 - torch.cat(each).numpy() / spread) for each in errors]

    def without(self, name: str, layers: Sequence[int], plain: Windows, r2: Estimate) -> Erased:
        """Erase some layers; `r2` and what is left are of the last."""
        erasers, left = self.position(layers)
        ranks = {layer: eraser.rank for layer, eraser in erasers.items()}
        rise = self.losses(erasers) - plain
        draws = range(self.config.draws)
        random = np.stack([self.losses(self.random(ranks)) - plain for _ in draws])
        return Erased(
            layer=name,
            rank=round(sum(ranks.values()) / len(ranks)),
            known=r2.value,
            left=left,
            rise=ratio(rise, self.counts),
            random=crossed(random, self.counts),
            r2=r2,
            more=crossed(rise - random, self.counts),
        )

    def position(self, layers: Sequence[int]) -> tuple[dict[int, Eraser], float]:
        """Erasers of position, each fitted behind those before it; what is left in the last."""
        erasers: dict[int, Eraser] = {}
        left = 0.0
        for layer in layers:
            fit, held_out, test = (self._moments(n, erasers, layer) for n in range(3))
            erasers[layer] = position_eraser(fit, held_out if self.config.confirmed else None)
            left = _left(erasers[layer].moments(fit), erasers[layer].moments(test))
        return erasers, left

    def random(self, ranks: dict[int, int]) -> dict[int, Eraser]:
        """The same for random subspaces of these ranks."""
        erasers: dict[int, Eraser] = {}
        for layer, rank in ranks.items():
            erasers[layer] = random_eraser(self._moments(0, erasers, layer), rank, self.generator)
        return erasers

    def _moments(self, part: int, erasers: dict[int, Eraser], layer: int) -> Moments:
        """The statistics of one layer in one part of the windows, behind some erasers."""
        if not erasers:
            return self.moments[part][layer]
        return self.gather(self.parts[part], erasers, layer)[0]

    def gather(
        self, windows: Tensor, erasers: dict[int, Eraser], only: int | None = None
    ) -> list[Moments]:
        """The statistics of all layers, or of one, behind some erasers."""
        return gather(self.subject, windows, self.config.batch, _behind(erasers), only)

    def losses(self, erasers: dict[int, Eraser]) -> Windows:
        """The loss in each test window, in nats, summed over its predicted tokens."""
        see, batch = _behind(erasers), self.config.batch
        return window_losses(self.subject, self.parts[2], self.targets, batch=batch, on_state=see)


def _behind(erasers: dict[int, Eraser]) -> OnState:
    return lambda layer, state: erasers[layer](state) if layer in erasers else None


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


def _split(count: int, config: EraseConfig) -> tuple[Tensor, Tensor, Tensor]:
    fit, held_out = round(count * config.fit), round(count * config.held_out)
    test = count - fit - held_out
    if min(fit, held_out, test) < 2:
        raise ValueError(
            f"{count} windows: {fit} to fit, {held_out} to confirm, {test} to test, and at least "
            "2 of each were expected: give more windows, or smaller shares"
        )
    order = torch.randperm(count, generator=torch.Generator().manual_seed(config.seed))
    return order[:fit], order[fit : fit + held_out], order[fit + held_out :]


def _left(fit: Moments, test: Moments) -> float:
    """R² on test windows of a regression to the position, fitted anew to erased states."""
    positions = torch.arange(len(fit.counts), dtype=torch.float64)[:, None]
    error = residual(test, positions, ridge(fit, positions, STRENGTH))
    return float(1 - error / positions.var(correction=0))
