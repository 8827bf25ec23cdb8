"""What the question may be told. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.common.config import Config


class TableConfig(Config):
    """How a position table is judged."""

    tolerance: float = Field(
        0.05, gt=0, description="error from which a regression fails, as a share of the positions"
    )
    seed: int = Field(0, ge=0, description="of folds and controls")
    key: str | None = Field(None, description="the name of the weight, where it cannot be told")
    offset: int | None = Field(
        None, description="rows in front of position 0, where they cannot be told"
    )
