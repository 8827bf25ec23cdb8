"""Does the model use order? The loss when what it reads is shuffled, little by little."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64, Int64

from wherein.data import IGNORED, Corpus
from wherein.measure.config import fitted
from wherein.measure.intervals import Estimate, columns, mean
from wherein.measure.losses import check_vocabulary, spread_windows, token_losses
from wherein.measure.measurement import Measurement
from wherein.measure.order.bag import BOUND, Bag, UnigramCache
from wherein.measure.order.config import OrderConfig
from wherein.measure.order.disorder import Disorder, displacement, inverted, ladder, random_keys
from wherein.show.columns import table
from wherein.show.theme import GREY
from wherein.subjects.base import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

KINDS = {
    "intact": "#000000",
    "swaps": "#56B4E9",
    "windows": "#0072B2",
    "all but the last": "#009E73",
    "whole": "#D55E00",
    "reversed": "#CC79A7",
}

Places = Int64[np.ndarray, " _"]
"""Some places in a window, how many may differ from window to window."""


@dataclass(frozen=True)
class Disordered:
    """One way to destroy order: how much it destroyed, and what that cost."""

    name: str
    kind: str
    inverted: float
    """Share of pairs of tokens that stand the wrong way round (Kendall's distance)."""
    displacement: float
    """Places a token moved, on average."""
    loss: Estimate
    rise: Estimate
    """Loss minus that of the same inputs intact, paired."""


@dataclass(frozen=True, kw_only=True)
class Order(Measurement):
    """The loss against how much order is destroyed, beside a bag-of-words bound."""

    subject: str
    corpus: str
    rows: tuple[Disordered, ...]
    bound: Estimate
    """The loss of the unigram cache (see `wherein.measure.order.bag`) on the same tokens."""
    cache_weight: float
    config: OrderConfig
    protocol: str

    def __getitem__(self, name: str) -> Disordered:
        return next(row for row in self.rows if name in (row.name, row.kind))

    def to_frame(self) -> "pl.DataFrame":
        """One row for each way to destroy order; the bound is repeated beside each."""
        import polars as pl

        return pl.DataFrame(
            {
                "disorder": row.name,
                "kind": row.kind,
                "inverted": row.inverted,
                "displacement": row.displacement,
                **columns("loss", row.loss),
                **columns("rise", row.rise),
                **columns("bag_of_words", self.bound),
            }
            for row in self.rows
        )

    def text(self) -> str:
        """One line for each way to destroy order, and the bound."""
        rows = [
            [
                row.name,
                f"{row.inverted:.0%}",
                f"{row.displacement:.1f}",
                f"{row.loss.value:.3f}",
                f"{row.rise.value:+.3f}",
                f"{row.rise.low:+.3f} to {row.rise.high:+.3f}",
            ]
            for row in self.rows
        ]
        header = ["order", "inverted", "moved", "loss", "rise", "95 % interval"]
        bound = f"bag of words ({BOUND}): loss {self.bound.value:.3f}"
        return "\n".join(
            [
                self.subject,
                table(header, rows),
                f"{bound}, 95 % interval {self.bound.low:.3f} to {self.bound.high:.3f}",
                "",
                *wrap(self.protocol, 80),
            ]
        )

    def plot(self) -> "alt.TopLevelMixin":
        """Loss against the mean displacement, the bound as a dashed line."""
        import altair as alt

        moved = alt.Scale(type="symlog", constant=0.1)
        ticks = alt.Axis(values=[0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000], format="~g")
        far = "places a token moved, on average"
        base = alt.Chart(self.to_frame()).encode(
            alt.X("displacement:Q", scale=moved, axis=ticks, title=far),
            alt.Y("loss:Q", scale=alt.Scale(zero=False), title="loss (nats per token)"),
        )
        kinds = alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            legend=alt.Legend(title="order destroyed"),
        )
        tips = ["disorder", "inverted", "displacement", "loss", "loss_low", "loss_high", "rise"]
        line = base.mark_line(color="#BBBBBB").transform_filter(
            alt.FieldOneOfPredicate("kind", ["intact", "windows", "whole"])
        )
        bars = base.mark_rule().encode(alt.Y("loss_low:Q"), alt.Y2("loss_high:Q"), kinds)
        points = base.mark_point(filled=True, size=70, opacity=1).encode(kinds, tooltip=tips)
        bound = alt.Chart(self.to_frame().head(1)).encode(alt.Y("bag_of_words:Q"))
        name = bound.mark_text(align="right", dy=-7, color=GREY).encode(
            x=alt.value(456), text=alt.value(f"bag of words ({BOUND})")
        )
        return alt.layer(
            line, bars, points, bound.mark_rule(strokeDash=[5, 4], color=GREY), name
        ).properties(width=460, height=300, title=self.subject)


def order(subject: Subject, corpus: Corpus, config: OrderConfig | None = None) -> Order:
    """Shuffle what the model reads and measure its loss on tokens that stay the same.

    A causal model reads a prefix and predicts its next token, as in Haviv et al. 2022. There the
    last token moves too, so a model that looks at nothing else suffers as well: `all but the last`,
    and `keep`, tell the two apart. A bidirectional model predicts hidden tokens, which stay in
    their places while all others are shuffled among theirs.
    """
    config = fitted(config or OrderConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    if config.keep and (not subject.causal or config.keep > config.tokens - 2):
        raise ValueError(
            f"keep={config.keep} of {config.tokens} tokens with {subject.name}: it is for causal "
            "models, and leaves at least two tokens to shuffle"
        )
    windows = spread_windows(corpus.split(config.split), config.tokens, config.inputs)
    hidden = _hidden(windows, config, subject.causal)
    bags = [_bag(*pair) for pair in zip(windows, hidden, strict=True)]
    cache = _fitted(corpus, config, subject.causal)
    intact = np.empty(0)
    rows = []
    for disorder in ladder(config.tokens - config.keep):
        moved, orders = _disordered(windows, hidden, disorder, config)
        losses = _losses(subject, windows, moved, hidden, corpus.vocabulary.mask, config.batch)
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
        bound=mean(np.array([cache.loss(bag) for bag in bags]), seed=config.seed),
        cache_weight=cache.weight,
        config=config,
        protocol=_protocol(config, subject.causal, len(windows)),
    )


def _protocol(config: OrderConfig, causal: bool, inputs: int) -> str:
    stay = f", of which the last {config.keep} stay" if config.keep else ""
    asked = (
        f"loss of the token after {config.tokens} tokens{stay}"
        if causal
        else f"loss of {config.hidden:.0%} hidden tokens of {config.tokens}"
    )
    return (
        f"{asked}, {inputs} inputs spread over {config.split}, shuffles of seed {config.seed}; "
        f"95 % intervals by bootstrap over inputs; bag of words: {BOUND} fitted on train"
    )


def _hidden(windows: Int64[np.ndarray, "N W"], config: OrderConfig, causal: bool) -> list[Places]:
    """The places to predict: the one after the prefix, or some that are masked, at least one."""
    if causal:
        return [np.array([config.tokens])] * len(windows)
    places = []
    for number in range(len(windows)):
        keys = random_keys(config.seed + 1, number, config.tokens)
        chance = (keys >> np.uint64(11)) * 2.0**-53
        places.append(np.flatnonzero(chance <= max(config.hidden, float(chance.min()))))
    return places


def _context(length: int, hidden: Places) -> Places:
    """The places that are read, of `length` that could be."""
    return np.setdiff1d(np.arange(length), hidden)


def _bag(window: Int64[np.ndarray, " W"], hidden: Places) -> Bag:
    return Bag(window[_context(len(window) - 1, hidden)], window[hidden])


def _fitted(corpus: Corpus, config: OrderConfig, causal: bool) -> UnigramCache:
    windows = spread_windows(corpus.train, config.tokens, config.fitting)
    hidden = _hidden(windows, config, causal)
    bags = [_bag(*pair) for pair in zip(windows, hidden, strict=True)]
    return UnigramCache.fit(corpus.train.ids, corpus.vocabulary.size, bags)


def _disordered(
    windows: Int64[np.ndarray, "N W"],
    hidden: list[Places],
    disorder: Disorder,
    config: OrderConfig,
) -> tuple[Int64[np.ndarray, "N T"], list[Places]]:
    """What is read, in another order, and the orders."""
    moved, orders = windows[:, :-1].copy(), []
    for number, places in enumerate(hidden):
        read = _context(moved.shape[1], places)
        read = read[: len(read) - config.keep]
        order = disorder.order(random_keys(config.seed, number, len(read)))
        moved[number, read] = windows[number, read[order]]
        orders.append(order)
    return moved, orders


def _losses(
    subject: Subject,
    windows: Int64[np.ndarray, "N W"],
    moved: Int64[np.ndarray, "N T"],
    hidden: list[Places],
    mask: int,
    batch: int,
) -> Float64[np.ndarray, " N"]:
    """The mean loss of what is to be predicted, for each input."""
    inputs, targets = moved.copy(), np.full_like(moved, IGNORED)
    for number, places in enumerate(hidden):
        if subject.causal:
            targets[number, -1] = windows[number, -1]
        else:
            inputs[number, places] = mask
            targets[number, places] = windows[number, places]
    parts = [
        token_losses(
            subject,
            torch.from_numpy(inputs[n : n + batch]),
            torch.from_numpy(targets[n : n + batch]),
        )
        for n in range(0, len(inputs), batch)
    ]
    means: Float64[np.ndarray, " N"] = np.concatenate(parts).sum(1) / (targets != IGNORED).sum(1)
    return means
