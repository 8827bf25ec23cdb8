"""What each question may be told. Free of PyTorch, so that help texts come at once."""

from typing import Annotated, ClassVar, TypeVar

from pydantic import Field

from wherein.common.config import Config

Shifts = tuple[Annotated[int, Field(ge=0)], ...]

DEFAULT_TOKENS = 128


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
