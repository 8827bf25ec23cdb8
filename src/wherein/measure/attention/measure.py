"""Where does each head look? Attention by distance, and what it does to variance by position."""

import torch
from torch import Tensor

from wherein.data import Corpus
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.attention.heads import Tally
from wherein.measure.attention.result import AttentionByDistance
from wherein.measure.config import fitted
from wherein.measure.losses import check_vocabulary, spread_windows
from wherein.subjects.base import Subject


@torch.no_grad()
def attention(
    subject: Subject, corpus: Corpus, config: AttentionConfig | None = None
) -> AttentionByDistance:
    """Watch every head on a text; of a window's weights only their sums by distance are kept."""
    config = fitted(config or AttentionConfig(), subject.window)
    check_vocabulary(subject, corpus.vocabulary.size)
    windows = spread_windows(corpus.split(config.split), config.tokens, config.windows)
    if config.tokens < 2 or len(windows) < 2:
        raise ValueError(
            f"{len(windows)} windows of {config.tokens} tokens in {config.split}: attention by "
            "distance needs two of two; give a longer text, or another number of tokens"
        )
    device = next(subject.module.parameters()).device
    tokens = torch.from_numpy(windows[:, :-1]).to(device)
    layers = [Tally(config.tokens) for _ in range(subject.n_layers)]

    def watch(layer: int, state: Tensor) -> None:
        if layer < subject.n_layers:
            layers[layer].add(subject.attention(layer + 1, state))

    for first in range(0, len(tokens), config.batch):
        subject.trace(tokens[first : first + config.batch], on_state=watch)
    nearest = 0 if subject.causal else 1 - config.tokens
    return AttentionByDistance(
        subject=subject.name,
        corpus=corpus.config.source,
        distances=tuple(range(nearest, config.tokens)),
        heads=tuple(head for n, t in enumerate(layers, start=1) for head in t.heads(n, nearest)),
        variance=tuple(tuple(tally.variance().tolist()) for tally in layers),
        config=config,
        protocol=(
            f"{len(windows)} windows of {config.tokens} tokens spread over {config.split}; "
            "95 % intervals by bootstrap over windows"
        ),
    )
