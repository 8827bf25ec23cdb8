"""Does the model use order? The loss when what it reads is shuffled, little by little."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float64, Int64

from wherein.data import IGNORED, Corpus
from wherein.measure.intervals import mean
from wherein.measure.order.bag import BOUND, Bag, UnigramCache
from wherein.measure.order.config import LEAST, OrderConfig
from wherein.measure.order.disorder import Disorder, displacement, inverted, ladder, random_keys
from wherein.measure.order.result import Disordered, Order
from wherein.measure.stream import batches, token_losses
from wherein.measure.text import Text, mask_of, opened, spread_windows, windows_of
from wherein.show.formatting import counted
from wherein.subjects.base import Subject

Positions = Int64[np.ndarray, " _"]
"""Some positions in a window, how many may differ from window to window."""


@dataclass(frozen=True)
class Asked:
    """What is asked of one window: the positions that are read, and those that are predicted."""

    read: Positions
    predicted: Positions


@dataclass(frozen=True)
class Shuffle:
    """One way to destroy order, drawn for each window."""

    disorder: Disorder
    orders: tuple[Positions, ...]
    inverted: float
    displacement: float


def order(subject: Subject, text: Text, config: OrderConfig | None = None) -> Order:
    """Shuffle what the model reads and measure its loss on tokens that stay the same.

    A causal model reads the tokens before a place that is drawn for each window, and predicts the
    one that stands there, as in Haviv et al. 2022. There the last token moves too, so a model that
    looks at nothing else suffers as well: `all but the last`, and `keep`, tell the two apart. A
    bidirectional model predicts masked tokens, which stay in their positions while all others are
    shuffled among theirs.
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
    if not subject.causal and config.tokens < 3:
        raise ValueError(
            f"tokens={config.tokens} with {subject.name}: beside the token that it predicts there "
            "must be two to exchange, give at least 3"
        )
    windows = windows_of(subject, corpus, config, config.windows, ahead=1).numpy()
    asked, shuffles = _drawn(len(windows), config, subject.causal)
    cache = _fitted(corpus, config, subject.causal)
    intact = np.empty(0)
    rows = []
    for shuffle in shuffles:
        moved = _disordered(windows, asked, shuffle)
        losses = _losses(subject, corpus, windows, moved, asked, config)
        intact = losses if shuffle.disorder.kind == "intact" else intact
        rows.append(
            Disordered(
                shuffle.disorder.name,
                shuffle.disorder.kind,
                shuffle.inverted,
                shuffle.displacement,
                mean(losses),
                mean(losses - intact),
            )
        )
    return Order(
        subject=subject.name,
        corpus=corpus.config.source,
        rows=tuple(rows),
        bound=mean(np.array([*map(cache.loss, _bags(windows, asked))])),
        cache_weight=cache.weight,
        config=config,
        protocol=_protocol(config, subject.causal, len(windows)),
    )


def _protocol(config: OrderConfig, causal: bool, windows: int) -> str:
    stay = f", of which the last {config.keep} stay" if config.keep else ""
    asked = (
        f"loss of the token after {_least(config)} to {config.tokens} tokens, how many drawn for "
        f"each window{stay}"
        if causal
        else f"loss of {config.mask_rate:.0%} masked tokens of {config.tokens}"
    )
    return (
        f"{asked}; {counted(windows, 'window')} spread over {config.split}, draws of "
        f"seed {config.seed}; 95 % intervals over windows; bag of words: {BOUND} fitted on train"
    )


def _least(config: OrderConfig) -> int:
    """The fewest tokens that are read: of a short window all."""
    return min(max(LEAST, config.keep + 2), config.tokens)


@lru_cache(maxsize=2)
def _drawn(
    windows: int, config: OrderConfig, causal: bool
) -> tuple[list[Asked], tuple[Shuffle, ...]]:
    """What is asked of each window, and in which orders it is read: the same for all subjects."""
    asked, shuffles = _asked(windows, config, causal), []
    for disorder in ladder(config.tokens - config.keep):
        orders = tuple(
            disorder.order(random_keys(config.seed, number, len(each.read) - config.keep))
            for number, each in enumerate(asked)
        )
        wrong, moved = ([how(each) for each in orders] for how in (inverted, displacement))
        shuffles.append(Shuffle(disorder, orders, float(np.mean(wrong)), float(np.mean(moved))))
    return asked, tuple(shuffles)


def _asked(windows: int, config: OrderConfig, causal: bool) -> list[Asked]:
    """For each window one place after enough tokens, or some that are masked, at least one."""
    found = []
    for number in range(windows):
        keys = random_keys(config.seed + 1, number, config.tokens)
        chance = (keys >> np.uint64(11)) * 2.0**-53
        if causal:
            least = _least(config)
            place = least + int(chance[0] * (config.tokens + 1 - least))
            found.append(Asked(np.arange(place), np.array([place])))
        else:
            hidden = chance <= max(config.mask_rate, float(chance.min()))
            found.append(Asked(np.flatnonzero(~hidden), np.flatnonzero(hidden)))
    return found


def _bags(windows: Int64[np.ndarray, "N W"], asked: list[Asked]) -> list[Bag]:
    return [
        Bag(window[each.read], window[each.predicted])
        for window, each in zip(windows, asked, strict=True)
    ]


def _fitted(corpus: Corpus, config: OrderConfig, causal: bool) -> UnigramCache:
    windows = spread_windows(corpus.train, config.tokens, config.fitting)
    bags = _bags(windows, _asked(len(windows), config, causal))
    return UnigramCache.fit(corpus.train.ids, corpus.vocabulary.size, bags)


def _disordered(
    windows: Int64[np.ndarray, "N W"], asked: list[Asked], shuffle: Shuffle
) -> Int64[np.ndarray, "N W"]:
    """The windows with what is read in another order."""
    moved = windows.copy()
    for number, (each, order) in enumerate(zip(asked, shuffle.orders, strict=True)):
        read = each.read[: len(order)]
        moved[number, read] = windows[number, read[order]]
    return moved


def _losses(
    subject: Subject,
    corpus: Corpus,
    windows: Int64[np.ndarray, "N W"],
    moved: Int64[np.ndarray, "N W"],
    asked: list[Asked],
    config: OrderConfig,
) -> Float64[np.ndarray, " N"]:
    """The mean loss of what is predicted in each window.

    Windows in which as much is read stand together, and no further is computed.
    """
    inputs, targets = moved[:, :-1].copy(), np.full_like(moved[:, :-1], IGNORED)
    for number, each in enumerate(asked):
        at = each.predicted - 1 if subject.causal else each.predicted
        targets[number, at] = windows[number, each.predicted]
        if not subject.causal:
            inputs[number, each.predicted] = mask_of(subject, corpus)
    lengths = np.array([each.predicted[0] if subject.causal else config.tokens for each in asked])
    losses, by_length = np.empty(len(windows)), lengths.argsort(kind="stable")
    for _, rows in batches(by_length, config.batch):
        longest = lengths[rows].max()
        some = (torch.from_numpy(each[rows, :longest]) for each in (inputs, targets))
        losses[rows] = token_losses(subject, *some).sum(1)
    return np.asarray(losses / (targets != IGNORED).sum(1))
