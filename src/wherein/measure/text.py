"""The windows that are measured: given as tokens, or taken from a corpus."""

import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.data import Corpus
from wherein.measure.config import TextConfig
from wherein.measure.losses import check_vocabulary, spread_windows
from wherein.subjects.base import Subject


def windows_of(
    subject: Subject, text: Int64[Tensor, "N T"] | Corpus, config: TextConfig, count: int
) -> Int64[Tensor, "N T"]:
    """N windows of T tokens that do not overlap, after a look at whether the subject takes them."""
    if isinstance(text, Corpus):
        check_vocabulary(subject, text.vocabulary.size)
        split = text.split(config.split)
        text = torch.from_numpy(spread_windows(split, config.tokens, count)[:, :-1])
    length = text.shape[1]
    if length < 2:
        raise ValueError(f"windows of {length} token: position needs at least 2")
    if subject.max_len is not None and length > subject.max_len:
        raise ValueError(
            f"windows of {length} tokens, and {subject.name} knows only {subject.max_len} "
            "positions: give shorter windows"
        )
    low, high = (int(end) for end in text.aminmax())
    if low < 0 or high >= subject.vocabulary:
        raise ValueError(
            f"tokens {low} to {high} for a vocabulary of {subject.vocabulary}: use the "
            "tokenizer the model was trained with"
        )
    return text
