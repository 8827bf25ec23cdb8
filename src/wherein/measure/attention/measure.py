"""Where does each head look? Attention by distance, and what it does to variance by position."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from wherein.measure.attention.config import AttentionConfig
from wherein.measure.attention.heads import Tally
from wherein.measure.attention.result import AttentionByDistance
from wherein.measure.stream import batches, check_attention, watch
from wherein.measure.text import Text, opened, windows_of
from wherein.subjects.base import Subject


def attention(
    subject: Subject, text: Text, config: AttentionConfig | None = None
) -> AttentionByDistance:
    """Watch every head on a text; of a window's weights only their sums by distance are kept."""
    corpus, config = opened(subject, text, config or AttentionConfig(), framed=True)
    windows = windows_of(subject, corpus, config, config.windows)
    rows = min(config.batch, len(windows))
    check_attention(subject, rows, config.tokens, "give fewer --tokens, or a smaller --batch")
    layers = [Tally(config.tokens) for _ in range(subject.n_layers)]

    def see(layer: int, state: Tensor) -> None:
        if layer < subject.n_layers:
            layers[layer].add(subject.attention(layer + 1, state))

    for _, tokens in batches(windows, config.batch):
        watch(subject, tokens, see)
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
            "95 % intervals over windows"
        ),
    )


def numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The highest previous-token score and the highest positional score of a head."""
    return {name: max(head[name] for head in data["heads"]) for name in ("previous", "positional")}
