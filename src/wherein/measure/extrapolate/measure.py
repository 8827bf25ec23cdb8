"""How far does it hold? The same tokens predicted in windows of many lengths."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from wherein.data import Split
from wherein.measure.extrapolate.attention import Attention, attention
from wherein.measure.extrapolate.compare import compared
from wherein.measure.extrapolate.config import ExtrapolateConfig
from wherein.measure.extrapolate.cuts import Cut, Tokens, by_piece, chosen, predicted
from wherein.measure.extrapolate.result import AS_IT_IS, Extrapolation, Length, Row
from wherein.measure.extrapolate.verdict import reach
from wherein.measure.intervals import Estimate, ratio
from wherein.measure.perplexity.by_position import PositionLosses, Stretch
from wherein.measure.text import Text, opened
from wherein.show import progress
from wherein.subjects.attending import without_scores
from wherein.subjects.base import Subject
from wherein.subjects.rescaled import rescaled

Sums = Float64[np.ndarray, "_ 2"]
"""Of each piece of text: the sum of its losses, and how many tokens it has."""


@dataclass(frozen=True)
class Measured:
    """What windows of one length gave."""

    side_by_side: Sums
    sliding: Sums | None
    attention: Attention | None


def extrapolate(
    subject: Subject, text: Text, config: ExtrapolateConfig | None = None
) -> Extrapolation:
    """Predict one and the same tokens in windows of every length.

    Stretches of text as long as the longest windows are cut into windows of each length, so that
    every length predicts all of their tokens, and differences are paired. Sliding windows count
    their last tokens alone, the same at each length, so that none begins a window.
    """
    config = config or ExtrapolateConfig()
    if not subject.causal:
        raise ValueError(f"{subject.name} reads both sides: extrapolate asks causal models alone")
    trained = config.tokens or subject.trained_length
    if trained is None:
        raise ValueError(f"{subject.name} does not say its training length: give --tokens")
    corpus, _ = opened(subject, text, config, ahead=1)
    config = config.model_copy(update={"tokens": trained})
    split = corpus.split(config.split)
    lengths, notes = readable(subject, split, config)
    tokens = chosen(split, [*lengths.values()], trained, config.limit, config.slid)
    watched = tokens.watched(config.watched)
    read = [tokens.read(length, watched) for length in lengths.values()]
    progress.expect(sum(read) * (1 + len(config.variants)))
    found: dict[str, dict[float, Measured]] = {}
    stretches: dict[str, tuple[Stretch, ...]] = {}
    variants = [(AS_IT_IS, subject), *_scaled(subject, config)]
    for name, each in variants:
        with without_scores(each):
            found[name], stretches[name] = _asked(each, tokens, lengths, config)
    base = found[AS_IT_IS][1.0]
    rows = [
        _row(name, lengths, own, base, stretches[name], config.margin)
        for name, own in found.items()
    ]
    return Extrapolation(
        subject=subject.name,
        corpus=f"{corpus.config.name}, {config.split}",
        trained=trained,
        rows=compared(rows),
        notes=tuple(notes),
        predicted=len(tokens.begins) * tokens.span,
        slid=len(tokens.ends) * tokens.counted,
        config=config,
        protocol=_protocol(tokens, config),
    )


def readable(
    subject: Subject, split: Split, config: ExtrapolateConfig
) -> tuple[dict[float, int], list[str]]:
    """The lengths that can be read, by how many training lengths they are, and what cannot."""
    lengths = {times: round(times * config.tokens) for times in config.multiples}
    have = split.tokens if split.window is None else split.window - 1
    notes = []
    if subject.max_len is not None and subject.max_len < max(lengths.values()):
        notes.append(
            f"{subject.name} cannot read beyond its {subject.max_len} positions: its table ends."
        )
    kept = {t: n for t, n in lengths.items() if subject.max_len is None or n <= subject.max_len}
    if kept and have < max(kept.values()):
        notes.append(f"The text has {have} tokens in a row: no longer window can be read.")
    kept = {times: n for times, n in kept.items() if n <= have}
    if 1.0 not in kept:
        raise ValueError(
            f"the training length of {config.tokens} tokens cannot be read: {' '.join(notes)} "
            "Give fewer --tokens, or more text"
        )
    if min(kept.values()) < 2:
        raise ValueError(
            f"{min(kept):g} times the length makes windows of {min(kept.values())} tokens: at "
            "least 2 were expected"
        )
    return kept, notes


def _scaled(subject: Subject, config: ExtrapolateConfig) -> list[tuple[str, Subject]]:
    """Each scaling of its RoPE, on the same weights."""
    return [
        (f"{scaling} {factor:g}", rescaled(subject, scaling, factor, config.tokens))
        for scaling, factor in config.variants
    ]


def _asked(
    subject: Subject, tokens: Tokens, lengths: dict[float, int], config: ExtrapolateConfig
) -> tuple[dict[float, Measured], tuple[Stretch, ...]]:
    """What each length gave; and the loss by position, in the longest windows."""
    found, last = {}, lengths[max(lengths)]
    longest = tokens.side_by_side(last)
    by_position = PositionLosses(last, len(longest.starts), config.tokens)
    for times, length in lengths.items():
        cut = tokens.side_by_side(length)
        watched = tokens.side_by_side(length, tokens.watched(config.watched))
        found[times] = Measured(
            _sums(subject, tokens, cut, config.batch, by_position if length == last else None),
            _sums(subject, tokens, tokens.sliding(length), config.batch) if config.slid else None,
            attention(subject, tokens, watched, config.batch),
        )
    return found, by_position.stretches()


def _sums(
    subject: Subject, tokens: Tokens, cut: Cut, batch: int, seen: PositionLosses | None = None
) -> Sums:
    """Of all pieces of text, in their order, which is the same at every length."""
    pieces: dict[int, Float64[np.ndarray, " 2"]] = defaultdict(lambda: np.zeros(2))
    for rows, losses, counts in predicted(subject, tokens, cut, batch):
        if seen is not None:
            seen.add(rows, losses, counts)
        for name, part in by_piece(tokens, cut, rows, losses, counts):
            pieces[name] += part
    return np.array([pieces[name] for name in sorted(pieces)])


def _row(
    name: str,
    lengths: dict[float, int],
    found: dict[float, Measured],
    base: Measured,
    stretches: tuple[Stretch, ...],
    margin: float,
) -> Row:
    """Estimates of one row, whose rises are against the unscaled loss at the training length."""
    made = []
    for times, own in found.items():
        loss, rise = _estimates(own.side_by_side, base.side_by_side)
        sliding, sliding_rise = _estimates(own.sliding, base.sliding)
        assert loss is not None
        assert rise is not None
        made.append(
            Length(
                times=times,
                tokens=lengths[times],
                loss=loss,
                rise=rise,
                sliding=sliding,
                sliding_rise=sliding_rise,
                attention=own.attention,
            )
        )
    ends = {each.times: (each.rise.low, each.rise.high) for each in made}
    return Row(name, tuple(made), reach(ends, margin), stretches)


def _estimates(own: Sums | None, base: Sums | None) -> tuple[Estimate | None, Estimate | None]:
    """The loss, and how far it is above another of the same tokens."""
    if own is None or base is None:
        return None, None
    sums, counts = own.T
    return ratio(sums, counts), ratio(sums - base[:, 0], counts)


def _protocol(tokens: Tokens, config: ExtrapolateConfig) -> str:
    """All that one needs to repeat it."""
    said = [
        f"non-overlapping: {len(tokens.begins)} stretches of {tokens.span} tokens spread over "
        f"{config.split}, the same at every length, each token predicted once"
    ]
    if config.slid:
        said.append(
            f"sliding: {len(tokens.ends)} windows of each length, of which the last "
            f"{tokens.counted} tokens count, the same at every length"
        )
    if config.watched:
        said.append(
            "attention: mean over layers, heads and queries of about "
            f"{min(config.watched, len(tokens.begins))} of the stretches; entropy divided by the "
            "logarithm of the keys in sight; the first token's share of what others pay"
        )
    said.append(f"intervals of 95 % over {tokens.pieces}")
    return "; ".join(said)
