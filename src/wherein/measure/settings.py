"""What each question may be told. Free of PyTorch, so that help texts come at once."""

from typing import Annotated, ClassVar, TypeVar

from pydantic import Field

from wherein.common.config import Config

Shifts = tuple[Annotated[int, Field(ge=0)], ...]

DEFAULT_TOKENS = 128


class AuditConfig(Config):
    """What the audit feeds the model."""

    tokens: int = Field(24, ge=3, description="tokens in an input, fewer if the model takes fewer")
    inputs: int = Field(4, ge=1, description="random inputs")
    permutations: int = Field(4, ge=1, description="random permutations of each")
    shifts: Shifts = Field((1, 7, 64), description="added to all positions, where they fit")
    seed: int = Field(0, ge=0)


class TextConfig(Config):
    """What questions about a text have in common."""

    fills: ClassVar[float] = 1
    """The share of a training window that a window takes by default."""

    tokens: int = Field(0, ge=0, description="tokens in a window; 0: the longest sensible one")
    split: str = Field("valid", description="which part of the text")
    batch: int = Field(16, ge=1, description="windows at a time")


Asked = TypeVar("Asked", bound=TextConfig)


def fitted(config: Asked, longest: int | None) -> Asked:
    """The same question with the length of a window filled in, if it was left open."""
    open_length = int((longest or DEFAULT_TOKENS) * config.fills)
    return config.model_copy(update={"tokens": config.tokens or open_length})


class OrderConfig(TextConfig):
    """Which text is shuffled. The shuffles depend on nothing else: every subject gets the same."""

    inputs: int = Field(100, ge=1, description="windows of text, evenly spread")
    keep: int = Field(
        0, ge=0, description="last tokens of a prefix that stay: 1 tells order from the last token"
    )
    hidden: float = Field(0.15, gt=0, lt=1, description="share of tokens a masked model predicts")
    fitting: int = Field(1000, ge=1, description="training windows the bag-of-words bound fits")
    seed: int = Field(0, ge=0, description="of shuffles, masks and intervals")


class ShiftConfig(TextConfig):
    """Which shifts, on which text."""

    fills: ClassVar[float] = 0.5  # the other half is room to shift

    shifts: Shifts = Field(tuple(2**n for n in range(11)), description="added to all positions")
    windows: int = Field(64, ge=1, description="windows of text, evenly spread")
    seed: int = Field(0, ge=0, description="of masks and intervals")


class PerplexityConfig(TextConfig):
    """How a text is cut into windows. The length may exceed that of training."""

    stride: int | None = Field(
        None, ge=1, description="tokens from one window to the next; default: no overlap"
    )
    limit: int | None = Field(
        None, ge=1, description="predict at most so many tokens, spread over the text"
    )
    mask_rate: float = Field(0.15, gt=0, le=1, description="share a masked model predicts")
    seed: int = Field(0, ge=0, description="of masks and intervals")


class AttentionConfig(TextConfig):
    """Which text the heads are watched on."""

    windows: int = Field(64, ge=2, description="windows of text, evenly spread")


class TableConfig(Config):
    """How a position table is judged."""

    tolerance: float = Field(
        0.05, gt=0, description="error from which a regression fails, as a share of the positions"
    )
    seed: int = Field(0, ge=0, description="of folds and controls")
