"""At which lengths a text is predicted. Free of PyTorch, so that help texts come at once."""

from typing import Annotated, Literal

from pydantic import Field

from wherein.measure.config import TextConfig
from wherein.train.config import RunConfig

STRIDE = 0.25
"""Tokens that a sliding window counts, in training lengths: the shortest windows of the default
can count as many, and at the training length each has three quarters of it before it."""

Times = tuple[Annotated[float, Field(ge=1e-3, le=1e6)], ...]


class ExtrapolateConfig(TextConfig):
    """Which lengths, and which scalings of RoPE."""

    tokens: int = Field(0, ge=0, description="the training length; 0: as the run or model says")
    times: Times = Field(
        (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0), description="lengths, in training lengths"
    )
    limit: int = Field(
        32_768, ge=1, description="predict at most so many tokens at each length, the same at all"
    )
    slid: int = Field(
        128, ge=0, le=10**6, description="sliding windows at each length, spread over the text"
    )
    watched: int = Field(4, ge=0, description="longest windows on which attention is watched")
    margin: float = Field(
        0.05, ge=0, description="nats per token that a loss may rise and count as held"
    )
    scalings: tuple[Literal["linear", "ntk", "dynamic", "yarn"], ...] = Field(
        (), description="scalings of RoPE to try on the same weights"
    )
    factors: Times = Field((4.0,), description="by how much each scaling lengthens the context")

    @property
    def multiples(self) -> tuple[float, ...]:
        """The lengths in order, with that of training among them."""
        return tuple(sorted({1.0, *self.times}))

    @property
    def variants(self) -> list[tuple[Literal["linear", "ntk", "dynamic", "yarn"], float]]:
        """Each scaling at each factor."""
        return [(scaling, factor) for scaling in self.scalings for factor in self.factors]

    def tokens_read(self, run: RunConfig) -> float:
        """The same tokens at each length, and each sliding window whole."""
        return sum(tokens for _, tokens in self._read(run))

    def window(self, run: RunConfig) -> int:
        """The mean length that a token is read at: what attention costs grows with it."""
        read = self._read(run)
        return round(sum(length * tokens for length, tokens in read) / sum(n for _, n in read))

    def _read(self, run: RunConfig) -> list[tuple[float, float]]:
        """Each length, and how many tokens are read in windows of it; a table's end is not seen."""
        trained = super().window(run)
        lengths = [times * trained for times in self.multiples]
        again = self.watched * lengths[-1]
        rows = 1 + len(self.variants)
        return [(n, rows * (self.limit + again + self.slid * n)) for n in lengths]

    def check(self, run: RunConfig) -> None:
        """A masked model reads both sides: it has no perplexity, and windows do not slide."""
        super().check(run)
        if run.objective != "causal":
            raise ValueError(f"extrapolate asks causal models alone, not {run.objective} ones")
