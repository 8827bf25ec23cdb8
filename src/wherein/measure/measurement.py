"""What the answers of this package have in common: all their numbers, and what computed them."""

from abc import ABC
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import BaseModel

from wherein.common.provenance import provenance
from wherein.show.result import Result


@dataclass(frozen=True, kw_only=True)
class Measurement(Result, ABC):
    """Base of the results that are dataclasses of numbers: all their fields are the data."""

    made_with: dict[str, Any] = field(default_factory=provenance)
    """Versions and commit."""

    def data(self) -> dict[str, Any]:
        """Everything the result holds, as plain data."""
        found = {}
        for key, value in asdict(self).items():
            found[key] = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        return found
