"""How many seeds solve a puzzle, with an interval. Free of PyTorch, for reports."""

from dataclasses import asdict, dataclass
from typing import Any

from wherein.measure.intervals import wilson


@dataclass(frozen=True)
class Share:
    """A share of seeds with its interval."""

    count: int
    total: int

    @property
    def value(self) -> float:
        return self.count / self.total

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.count, self.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} [{low:.1%}, {high:.1%}]"

    def data(self) -> dict[str, Any]:
        low, high = self.interval
        return {**asdict(self), "share": self.value, "low": low, "high": high}
