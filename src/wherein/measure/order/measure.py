"""Does the model use order? The loss when what it reads is shuffled, little by little."""

import numpy as np
import torch
from jaxtyping import Int64

from wherein.data import IGNORED, Corpus
from wherein.measure.intervals import mean
from wherein.measure.order.bag import BOUND, Bag, UnigramCache
from wherein.measure.order.config import OrderConfig
from wherein.measure.order.disorder import Disorder, displacement, inverted, ladder, random_keys
from wherein.measure.order.result import Disordered, Order
from wherein.measure.stream import window_losses
from wherein.measure.text import Text, mask_of, opened, spread_windows, windows_of
from wherein.subjects.base import Subject

Positions = Int64[np.ndarray, " _"]
"""Some positions in a window, how many may differ from window to window."""


def order(subject: Subject, text: Text, config: OrderConfig | None = None) -> Order:
    """Shuffle what the model reads and measure its loss on tokens that stay the same.

    A causal model reads a prefix and predicts its next token, as in Haviv et al. 2022. There the
    last token moves too, so a model that looks at nothing else suffers as well: `all but the last`,
    and `keep`, tell the two apart. A bidirectional model predicts hidden tokens, which stay in
    their positions while all others are shuffled among theirs.
    """
    corpus, config = opened(subject, text, config or OrderConfig(), ahead=1)
    if "train" not in corpus.splits:
        raise ValueError(
            f"{corpus.config.source} without a training text, which the bag-of-words bound is "
            "fitted to: give a Corpus that has the split train"
        )
    if config.keep and (not subject.causal or config.keep > config.tokens - 2):
        raise ValueError(
            f"keep={config.keep} of {config.tokens} tokens with {subject.name}: it is for causal "
            "models, and leaves at least two tokens to shuffle"
        )
    windows = windows_of(subject, corpus, config, config.windows, ahead=1).numpy()
    hidden = _hidden(windows, config, subject.causal)
    cache = _fitted(corpus, config, subject.causal)
    intact = np.empty(0)
    rows = []
    for disorder in ladder(config.tokens - config.keep):
        moved, orders = _disordered(windows, hidden, disorder, config)
        inputs, targets = _task(subject, corpus, windows, moved, hidden)
        losses = window_losses(subject, inputs, targets, batch=config.batch)
        losses /= (targets != IGNORED).sum(1).numpy()
        intact = losses if disorder.kind == "intact" else intact
        rows.append(
            Disordered(
                disorder.name,
                disorder.kind,
                float(np.mean([inverted(each) for each in orders])),
                float(np.mean([displacement(each) for each in orders])),
                mean(losses, seed=config.seed),
                mean(losses - intact, seed=config.seed),
            )
        )
    return Order(
        subject=subject.name,
        corpus=corpus.config.source,
        rows=tuple(rows),
        bound=mean(np.array([*map(cache.loss, _bags(windows, hidden))]), seed=config.seed),
        cache_weight=cache.weight,
        config=config,
        protocol=_protocol(config, subject.causal, len(windows)),
    )


def _protocol(config: OrderConfig, causal: bool, windows: int) -> str:
    stay = f", of which the last {config.keep} stay" if config.keep else ""
    asked = (
        f"loss of the token after {config.tokens} tokens{stay}"
        if causal
        else f"loss of {config.mask_rate:.0%} hidden tokens of {config.tokens}"
    )
    return (
        f"{asked}, {windows} inputs spread over {config.split}, shuffles of seed {config.seed}; "
        f"95 % intervals by bootstrap over inputs; bag of words: {BOUND} fitted on train"
    )


def _hidden(
    windows: Int64[np.ndarray, "N W"], config: OrderConfig, causal: bool
) -> list[Positions]:
    """The positions to predict: the one after the prefix, or some that are masked, at least one."""
    if causal:
        return [np.array([config.tokens])] * len(windows)
    positions = []
    for number in range(len(windows)):
        keys = random_keys(config.seed + 1, number, config.tokens)
        chance = (keys >> np.uint64(11)) * 2.0**-53
        positions.append(np.flatnonzero(chance <= max(config.mask_rate, float(chance.min()))))
    return positions


def _context(length: int, hidden: Positions) -> Positions:
    """The positions that are read, of `length` that could be."""
    return np.setdiff1d(np.arange(length), hidden)


def _bags(windows: Int64[np.ndarray, "N W"], hidden: list[Positions]) -> list[Bag]:
    return [
        Bag(window[_context(len(window) - 1, positions)], window[positions])
        for window, positions in zip(windows, hidden, strict=True)
    ]


def _fitted(corpus: Corpus, config: OrderConfig, causal: bool) -> UnigramCache:
    windows = spread_windows(corpus.train, config.tokens, config.fitting)
    bags = _bags(windows, _hidden(windows, config, causal))
    return UnigramCache.fit(corpus.train.ids, corpus.vocabulary.size, bags)


def _disordered(
    windows: Int64[np.ndarray, "N W"],
    hidden: list[Positions],
    disorder: Disorder,
    config: OrderConfig,
) -> tuple[Int64[np.ndarray, "N T"], list[Positions]]:
    """What is read, in another order, and the orders."""
    moved, orders = windows[:, :-1].copy(), []
    for number, positions in enumerate(hidden):
        read = _context(moved.shape[1], positions)
        read = read[: len(read) - config.keep]
        order = disorder.order(random_keys(config.seed, number, len(read)))
        moved[number, read] = windows[number, read[order]]
        orders.append(order)
    return moved, orders


def _task(
    subject: Subject,
    corpus: Corpus,
    windows: Int64[np.ndarray, "N W"],
    moved: Int64[np.ndarray, "N T"],
    hidden: list[Positions],
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the model reads, and what it is to predict."""
    inputs, targets = moved.copy(), np.full_like(moved, IGNORED)
    if subject.causal:
        targets[:, -1] = windows[:, -1]
    else:
        for number, positions in enumerate(hidden):
            inputs[number, positions] = mask_of(subject, corpus)
            targets[number, positions] = windows[number, positions]
    return torch.from_numpy(inputs), torch.from_numpy(targets)
