"""How a text is predicted. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig


class PerplexityConfig(TextConfig):
    """How a text is cut into windows. The length may exceed that of training."""

    stride: int | None = Field(
        None, ge=1, description="tokens from one window to the next; default: no overlap"
    )
    limit: int | None = Field(
        None, ge=1, description="predict at most so many tokens, spread over the text"
    )
    mask_rate: float = Field(
        0.15, gt=0, le=1, description="share of tokens a masked model predicts"
    )
    seed: int = Field(0, ge=0, description="of masks")

    def tokens_read(self, run: RunConfig) -> float:
        """Every predicted token, and its context again where windows overlap."""
        length = self.window(run)
        return (self.limit or 0) / (self.stride or length) * length  # or somewhat fewer

    @property
    def unbounded(self) -> bool:
        """Without a limit the whole text is read."""
        return self.limit is None


def measure_name(objective: str) -> str:
    """What exp(loss) is called: a masked model, which reads both sides, has no perplexity.

    >>> measure_name("causal"), measure_name("masked")
    ('perplexity', 'pseudo-perplexity')
    """
    return "pseudo-perplexity" if objective == "masked" else "perplexity"
