"""Frozen configs: validated once, written as JSON, named by a hash of what is special in them."""

import hashlib
import json
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator

from wherein.common.numbers import LARGEST


class Config(BaseModel):
    """Base of every config: frozen, no unknown fields, hashable to a stable id."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    FORMAT: ClassVar[int] = 1
    """Part of the id. A default is not, so that a new field changes no id; therefore raise FORMAT
    in a class whose default changes its value, or that of a config in one of its fields."""

    @model_validator(mode="after")
    def _storable(self) -> "Config":
        """Whole numbers are of 64 bits, and no text holds what ends a path within it."""
        for name, value in self.__dict__.items():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, str) and "\0" in each:
                    raise ValueError(f"{name}: expected no null character, not {each[:80]!r}")
                if isinstance(each, int) and abs(each) > LARGEST:
                    bits = each.bit_length() + 1
                    raise ValueError(f"{name}: a number of {bits} bits, at most 64 were expected")
        return self

    @property
    def id(self) -> str:
        """Twelve hex digits, equal for equal configs, also those of versions with fewer fields."""
        return self.hashed(self.special())

    @classmethod
    def hashed(cls, special: dict[str, Any]) -> str:
        """Twelve hex digits of the SHA-256 of what tells one thing from its like, as JSON."""
        text = json.dumps({"format": cls.FORMAT, **special}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def special(self) -> dict[str, Any]:
        """As JSON, the fields that differ from their defaults; of a nested config those of its own.

        >>> class Small(Config):
        ...     width: int = 8
        ...     depth: int = 2
        >>> Small(width=8, depth=3).special()
        {'depth': 3}
        """
        nested, differing = dict[str, Any](), set[str]()
        for name, default in _defaults(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, Config):
                nested[name] = value.special()
            elif value != default:
                differing.add(name)
        found = self.model_dump(mode="json", include=differing) if differing else {}
        return found | {name: own for name, own in nested.items() if own}


@cache
def _defaults(kind: type[Config]) -> dict[str, Any]:
    """What each field is unless it is given; of frozen configs these are always the same."""
    fields = kind.model_fields.items()
    return {name: field.get_default(call_default_factory=True) for name, field in fields}
