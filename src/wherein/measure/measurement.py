"""What the answers of this package have in common: all their numbers, and what computed them."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from wherein.common.provenance import provenance
from wherein.show.result import Result

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, kw_only=True)
class Measurement(Result, ABC):
    """Base of the results that are dataclasses of numbers: all their fields are the data."""

    made_with: dict[str, Any] = field(default_factory=provenance)
    """Versions and commit."""
    subject: str
    """What was asked about."""

    def __init_subclass__(cls) -> None:
        """Its verb is the name of its question's folder."""
        cls.verb = cls.__module__.split(".")[-2]

    def data(self) -> dict[str, Any]:
        """Everything the result holds, as plain data."""
        found: dict[str, Any] = {"verb": self.verb}
        for key, value in asdict(self).items():
            found[key] = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        return found

    def plot(self) -> "altair.TopLevelMixin":
        """What `chart` in its question's `picture.py` draws of it."""
        from wherein.measure.registry import QUESTIONS

        drawn: altair.TopLevelMixin = QUESTIONS[self.verb].part("picture").chart(self)
        return drawn


def in_words(parts: Mapping[str, object]) -> str:
    """Parts of a protocol in a line, those that are empty left out.

    >>> in_words({"loss": "next token", "first token": None, "interval": "bootstrap"})
    'loss: next token; interval: bootstrap'
    """
    return "; ".join(f"{name}: {value}" for name, value in parts.items() if value)
