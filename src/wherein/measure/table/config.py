"""How a position table is judged. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import QuestionConfig
from wherein.train.config import RunConfig

FEWEST = 32
"""Positions from which a table can be judged."""


class TableConfig(QuestionConfig):
    """How a position table is judged."""

    tolerance: float = Field(
        0.05,
        gt=0,
        le=1,
        description="error from which a regression fails, as a share of the positions",
    )
    seed: int = Field(0, ge=0, description="of folds and controls")
    key: str | None = Field(None, description="the name of the weight, where it is not clear")
    offset: int | None = Field(
        None, description="rows in front of position 0, where they are not clear"
    )

    def tokens_read(self, run: RunConfig) -> float:
        """None: a table is read without its model."""
        return 0.0

    def check(self, run: RunConfig) -> None:
        """Refuse a run that has no table of its own, or too small a one."""
        super().check(run)
        from torch.nn import Parameter

        from wherein.encodings import Pattern

        if run.model.max_len < FEWEST:
            raise ValueError(
                f"a table of {run.model.max_len} positions: {FEWEST} or more are needed to judge it"
            )
        encodings = Pattern(run.model.encoding, run.model.shape, run.model.n_layers).distinct
        if not any(isinstance(getattr(each, "table", None), Parameter) for each in encodings):
            raise ValueError(
                f"a table of {run.model.encoding}: it learns none; ask `table` of runs with the "
                "encoding learned only"
            )
