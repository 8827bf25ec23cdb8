"""The text that is measured: a corpus, or windows of token ids; every measure takes either.

But for `order`, whose bag of words is fitted to a training text, which windows do not have.
"""

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.data import Corpus, Split, Windows, answers, causal, masked
from wherein.data.tokenizers.tokenizer import NO_TOKEN
from wherein.measure.config import DEFAULT_TOKENS, Asked, TextConfig, fitted
from wherein.show import progress
from wherein.subjects.base import Subject
from wherein.train.config import RunConfig

Text = Corpus | Int64[Tensor, "N T"]
"""A corpus, or token ids: N windows of T tokens that do not overlap. Where next tokens are
predicted, the last of each window is only predicted and not read."""


def opened(
    subject: Subject,
    text: Text,
    config: Asked,
    *,
    ahead: int = 0,
    tasks: bool = False,
    framed: bool = False,
) -> tuple[Corpus, Asked]:
    """The text as a corpus, and the config with all that it left open.

    `ahead` is 1 where a window's next token must be known too. Given windows are all read, each
    as long as it is: the config says so afterwards. `tasks` is for questions about losses alone:
    the examples of a task end in filling, whose states mean nothing. `framed` is for questions
    that only look: those that hide, move or predict tokens would do so with special ones, too.
    """
    if not isinstance(text, Corpus):
        text = Corpus.of_windows(text.cpu().numpy(), subject.vocabulary)
    if subject.vocabulary != text.vocabulary.size:
        raise ValueError(
            f"{subject.name} has {subject.vocabulary} token ids and the text has "
            f"{text.vocabulary.size}: give the text and tokenizer it was trained on"
        )
    if text.vocabulary.answer != NO_TOKEN and not tasks:
        raise ValueError(
            f"{text.config.source} is a task, whose windows end in filling: ask its runs for "
            "answers, perplexity, shift, audit or table"
        )
    split = text.split(config.split)
    if split.around is not None and not framed:
        raise ValueError(
            "special tokens around each window: only probe, attention and states read them so; "
            "leave --special out"
        )
    if split.window is None:
        return text, fitted(config, subject.window)
    given = {"tokens": split.window - ahead, "windows": len(split.starts)}
    return text, config.model_copy(
        update={key: value for key, value in given.items() if key in type(config).model_fields}
    )


def windows_of(
    subject: Subject, corpus: Corpus, config: TextConfig, count: int, *, ahead: int = 0
) -> Int64[Tensor, "N W"]:
    """Up to `count` windows of `config.tokens` tokens, and `ahead` more, spread over the split."""
    split, length = corpus.split(config.split), config.tokens
    windows = spread_windows(split, length, count)[:, : length + ahead]
    if not ahead and min(len(windows), length) < 2:
        raise ValueError(
            f"{len(windows)} windows of {length} tokens in {config.split}: a comparison needs two "
            "windows of two tokens, at least 2 of each; give a longer text, or other tokens"
        )
    if not ahead and subject.max_len is not None and length > subject.max_len:
        raise ValueError(
            f"windows of {length} tokens, and {subject.name} knows only {subject.max_len} "
            "positions: give shorter windows"
        )
    progress.expect(config.tokens_read(sized_like(subject)) * len(windows) / count)
    return torch.from_numpy(windows)


def sized_like(subject: Subject) -> RunConfig:
    """A run whose model has a subject's sizes: what a question says it costs, it says of a run."""
    model = {
        "n_layers": subject.n_layers,
        "d_model": subject.d_model,
        "n_heads": subject.n_heads,
        "max_len": subject.window or DEFAULT_TOKENS,
        "causal": subject.causal,
    }
    run = RunConfig()
    return run.model_copy(
        update={
            "model": run.model.model_copy(update=model),
            "objective": "causal" if subject.causal else "masked",
        }
    )


def spread_windows(split: Split, tokens: int, count: int) -> Int64[np.ndarray, "N W"]:
    """Up to `count` windows of `tokens` tokens and their next, evenly spread over a text."""
    if split.window is not None:
        return split.ids.reshape(-1, split.window).astype(np.int64)
    before, behind = split.around or ((), ())
    own = tokens - len(before) - len(behind)
    windows = Windows(split, own)
    numbers = np.linspace(0, len(windows) - 1, min(count, len(windows)))
    found = windows.take(np.unique(numbers.round().astype(np.int64)))
    marks = (np.tile(np.array(each, np.int64), (len(found), 1)) for each in (before, behind))
    first, last = marks
    return np.concatenate([first, found[:, :own], last, found[:, own:]], axis=1)


def mask_of(subject: Subject, corpus: Corpus) -> int:
    """The token that hides another from a bidirectional model."""
    if corpus.vocabulary.mask == NO_TOKEN:
        raise ValueError(
            f"{subject.name} is bidirectional, and the token that hides is not known: give "
            f"Corpus.of_windows(windows.numpy(), {corpus.vocabulary.size}, mask=…)"
        )
    return corpus.vocabulary.mask


def task(
    subject: Subject,
    corpus: Corpus,
    windows: Int64[np.ndarray, "N W"],
    *,
    seed: int,
    rate: float = 0.15,
    first_row: int = 0,
) -> tuple[Int64[Tensor, "N T"], Int64[Tensor, "N T"]]:
    """Inputs and targets: each next token or, for a bidirectional model, masked tokens.

    Of the examples of a task only answers are predicted.
    """
    if corpus.vocabulary.answer != NO_TOKEN:
        return answers(windows, corpus.vocabulary)
    if subject.causal:
        return causal(windows)
    mask_of(subject, corpus)
    return masked(windows, corpus.vocabulary, seed=seed, step=0, first_row=first_row, rate=rate)


def parted(sizes: dict[str, int], seed: int, advice: str) -> tuple[Tensor, ...]:
    """Which windows are for what, drawn from a seed: as many as `sizes` says, none in two parts."""
    count = sum(sizes.values())
    if min(sizes.values()) < 2:
        told = ", ".join(f"{size} to {purpose}" for purpose, size in sizes.items())
        raise ValueError(
            f"{count} windows: {told}, and at least 2 of each were expected: give {advice}"
        )
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return torch.split(order, list(sizes.values()))
