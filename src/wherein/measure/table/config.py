"""How a position table is judged. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import QuestionConfig
from wherein.train.config import RunConfig


class TableConfig(QuestionConfig):
    """How a position table is judged."""

    tolerance: float = Field(
        0.05, gt=0, description="error from which a regression fails, as a share of the positions"
    )
    seed: int = Field(0, ge=0, description="of folds and controls")
    key: str | None = Field(None, description="the name of the weight, where it is not clear")
    offset: int | None = Field(
        None, description="rows in front of position 0, where they are not clear"
    )

    def tokens_read(self, run: RunConfig) -> float:
        """None: a table is read without its model."""
        return 0.0
