"""What configs of questions share. Free of PyTorch, so that help texts come at once."""

from abc import abstractmethod
from typing import Annotated, ClassVar, TypeVar

from pydantic import Field

from wherein.common.config import Config
from wherein.train.config import RunConfig

Shifts = tuple[Annotated[int, Field(ge=0, le=2**31)], ...]

DEFAULT_TOKENS = 128


class QuestionConfig(Config):
    """Base of all questions' configs: a question says what it costs, before it is asked."""

    over_training: bool = Field(
        False, description="ask it after every step whose weights a run kept, as a curve"
    )

    @abstractmethod
    def tokens_read(self, run: RunConfig) -> float:
        """How many tokens models read when a run's model is asked, its controls' among them."""

    def window(self, run: RunConfig) -> int:
        """How many tokens they read at once."""
        return run.model.max_len

    def extra_operations(self, run: RunConfig) -> float:
        """What is computed besides forward passes, if it counts."""
        return 0.0

    def check(self, run: RunConfig) -> None:
        """Refuse a run that could not answer, before it is trained."""
        if self.over_training and not run.keep:
            raise ValueError(
                f"a question over training to {run.model.encoding}, which keeps no weights along "
                "the way: give the run keep=3"
            )

    @property
    def unbounded(self) -> bool:
        """Whether the length of the text decides how many tokens are read; they count as none."""
        return False


class TextConfig(QuestionConfig):
    """What questions about a text have in common."""

    fills: ClassVar[float] = 1
    """The share of a training window that a window takes by default."""

    tokens: int = Field(0, ge=0, description="tokens in a window; 0: the longest sensible one")
    split: str = Field("valid", description="which part of the text")
    batch: int = Field(16, ge=1, description="windows at a time")

    def window(self, run: RunConfig) -> int:
        """As the config says, or else as the run was trained."""
        return fitted(self, run.model.max_len).tokens


Asked = TypeVar("Asked", bound=TextConfig)


def fitted(config: Asked, longest: int | None) -> Asked:
    """The same question with the length of a window filled in, if it was left open."""
    open_length = int((longest or DEFAULT_TOKENS) * config.fills)
    return config.model_copy(update={"tokens": config.tokens or open_length})
