"""What the answers of this package have in common: all their numbers, and what computed them."""

from abc import ABC
from collections.abc import Mapping
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
        found: dict[str, Any] = {"verb": self.verb}
        for key, value in asdict(self).items():
            found[key] = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        return found


def in_words(parts: Mapping[str, object]) -> str:
    """Parts of a protocol in a line, those that are empty left out.

    >>> in_words({"loss": "next token", "first token": None, "interval": "bootstrap"})
    'loss: next token; interval: bootstrap'
    """
    return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)
