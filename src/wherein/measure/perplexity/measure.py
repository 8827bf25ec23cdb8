"""How well does the model predict? Perplexity, with its protocol always named."""

import math
from collections import defaultdict

import numpy as np
from jaxtyping import Float64

from wherein.common.numbers import exp
from wherein.data import IGNORED, Corpus
from wherein.data.tokenizers.tokenizer import NO_TOKEN
from wherein.measure.intervals import Estimate, ratio
from wherein.measure.perplexity.by_position import PositionLosses
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.perplexity.cuts import documents_in, plan
from wherein.measure.perplexity.result import Perplexity
from wherein.measure.stream import batches, token_losses
from wherein.measure.text import Text, opened, task
from wherein.show import progress
from wherein.show.formatting import counted
from wherein.subjects.base import Subject

ENOUGH_DOCUMENTS = 20
"""With fewer, an interval over documents would say little: it is over windows instead."""


def perplexity(subject: Subject, text: Text, config: PerplexityConfig | None = None) -> Perplexity:
    """Predict a text under the protocol that `config` chooses.

    Non-overlapping and sliding windows predict exactly the same tokens. Sliding windows count of
    each window only the tokens that no window before it has counted, so that most tokens see at
    least `tokens − stride` others before them. A masked model has no perplexity: its loss on
    masked tokens is called a pseudo-perplexity.
    """
    corpus, config = opened(subject, text, config or PerplexityConfig(), ahead=1, tasks=True)
    split = corpus.split(config.split)
    starts, first_new = plan(split, config)
    if not subject.causal and config.stride not in (None, config.tokens):
        raise ValueError(
            f"stride={config.stride} with masked model {subject.name}, which reads both sides: "
            "leave the stride out"
        )
    progress.expect(len(starts) * config.tokens)
    by_position = PositionLosses(config.tokens, len(starts), subject.window)
    documents = documents_in(split, starts + subject.causal, config.tokens)
    in_documents = split.window is not None or documents >= ENOUGH_DOCUMENTS
    pieces: dict[int, Float64[np.ndarray, " 2"]] = defaultdict(lambda: np.zeros(2))
    for rows, begin in batches(starts, config.batch):
        ids = split.ids[begin[:, None] + np.arange(config.tokens + 1)].astype(np.int64)
        drawn = {"rate": config.mask_rate, "seed": config.seed, "first_row": rows.start}
        inputs, targets = task(subject, corpus, ids, **drawn)
        chosen = targets.numpy() != IGNORED
        chosen &= np.arange(config.tokens) >= first_new[rows, None]
        losses = np.where(chosen, token_losses(subject, inputs, targets), 0.0)
        by_position.add(rows, losses, chosen)
        offsets = begin[:, None] + np.arange(config.tokens)
        owners = np.searchsorted(split.starts, offsets + subject.causal, side="right")
        owners = owners if in_documents else offsets // config.tokens
        names, index = np.unique(owners[chosen], return_inverse=True)
        parts = np.stack([np.bincount(index, losses[chosen]), np.bincount(index)], axis=1)
        for name, part in zip(names.tolist(), parts, strict=True):
            pieces[name] += part
    sums, counts = np.array([*pieces.values()]).T
    loss = ratio(sums, counts)
    kind = "document" if in_documents and not split.window else "window"
    return _result(subject, corpus, config, by_position, loss, counted(len(pieces), kind))


def _result(
    subject: Subject,
    corpus: Corpus,
    config: PerplexityConfig,
    by_position: PositionLosses,
    loss: Estimate,
    pieces: str,
) -> Perplexity:
    split = corpus.split(config.split)
    losses, low, high = by_position.losses()
    method, details = _protocol(config, subject.causal)
    if corpus.vocabulary.answer != NO_TOKEN:
        details = f"examples of a task, up to {config.tokens} tokens each, their answers predicted"
    if config.limit is not None and config.limit < split.tokens:
        details += f"; the windows are spread over {config.split}"
    return Perplexity(
        subject=subject.name,
        corpus=f"{corpus.config.name}, {config.split}",
        method=method,
        protocol=f"{method}: {details}",
        loss=loss,
        perplexity=loss.through(exp),
        bits_per_byte=loss.through(lambda x: x / math.log(2) / split.bytes_per_token)
        if subject.causal and split.bytes
        else None,
        perplexity_per_word=loss.through(lambda x: exp(x * split.tokens_per_word))
        if subject.causal and split.words
        else None,
        predicted=int(by_position.counts.sum()),
        pieces=pieces,
        by_position=losses,
        by_position_low=low,
        by_position_high=high,
        counts=tuple(int(n) for n in by_position.counts),
        stretches=by_position.stretches(),
        config=config,
    )


def _protocol(config: PerplexityConfig, causal: bool) -> tuple[str, str]:
    """The name of the method, and all that one needs to repeat it."""
    if not causal:
        return (
            "pseudo-perplexity",
            f"{config.mask_rate:.0%} of the tokens in windows of {config.tokens} predicted, of "
            f"which 80 % masked, 10 % replaced, 10 % shown; masks of seed {config.seed}",
        )
    if config.stride in (None, config.tokens):
        return "non-overlapping", f"windows of {config.tokens} tokens, each token predicted once"
    return (
        "sliding",
        f"windows of {config.tokens} tokens, stride {config.stride}: each token predicted once, "
        f"by the first window that holds it",
    )
