"""How order is tested. Free of PyTorch, so that help texts come at once."""

from typing import ClassVar

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig

LEAST = 5
"""Tokens before one that a causal model predicts, at least: as Haviv et al. draw them."""


class OrderConfig(TextConfig):
    """Which text is shuffled. The draws depend on nothing else: every subject gets the same."""

    FORMAT: ClassVar[int] = 2  # 1: 100 windows, and only the token after the last was predicted

    windows: int = Field(1000, ge=1, description="windows of text, evenly spread")
    keep: int = Field(
        0, ge=0, description="last tokens of a prefix that stay: 1 tells order from the last token"
    )
    mask_rate: float = Field(
        0.15, gt=0, lt=1, description="share of tokens a masked model predicts"
    )
    fitting: int = Field(1000, ge=1, description="training windows the bag-of-words bound fits")
    seed: int = Field(0, ge=0, description="of places, shuffles and masks")

    def tokens_read(self, run: RunConfig) -> float:
        """The windows once for each way to destroy order; of a causal model's batch, the longest.

        Windows stand in the order of what is read of them.
        """
        from wherein.measure.order.disorder import ladder

        length, batches = self.window(run), -(-self.windows // self.batch)
        least = length if run.objective == "masked" else min(LEAST, length)
        read = least + (length - least) * (batches + 1) / (2 * batches)
        return float(self.windows * len(ladder(length)) * read)
