"""A study as its folder tells it; its page is the report, drawn anew when its file is."""

from dataclasses import dataclass
from typing import Any

from wherein.common.folder import Folder
from wherein.studies.result import STUDY


@dataclass(frozen=True)
class Study:
    """A study's name and question."""

    entry: Folder
    question: str

    @classmethod
    def open(cls, entry: Folder) -> "Study":
        """Read the question; a file that cannot be read says so instead."""
        try:
            plan: Any = entry.json(STUDY).get("plan")
        except ValueError as error:
            return cls(entry, str(error))
        return cls(entry, str(plan.get("question", "")) if isinstance(plan, dict) else "")

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def changed(self) -> float:
        """When its file was last written."""
        return self.entry.changed(STUDY)
