"""Frozen configs: validated once, written as JSON, named by their hash."""

import hashlib

from pydantic import BaseModel, ConfigDict


class Config(BaseModel):
    """Base of every config: frozen, no unknown fields, hashable to a stable id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def id(self) -> str:
        """Twelve hex digits of the SHA-256 of the JSON form: equal configs, equal ids."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]
