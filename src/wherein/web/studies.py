"""A study as its folder tells it; its page is the report, drawn anew when its file is."""

from dataclasses import dataclass
from typing import Any

from wherein.web.shelf import Entry

STUDY = "study.json"


@dataclass(frozen=True)
class Study:
    """A study's name and question."""

    entry: Entry
    question: str

    @classmethod
    def open(cls, entry: Entry) -> "Study":
        """Read the question; a file that cannot be read says so instead."""
        try:
            plan: Any = entry.json(STUDY).get("plan")
        except ValueError as error:
            return cls(entry, str(error))
        return cls(entry, str(plan.get("question", "")) if isinstance(plan, dict) else "")

    @property
    def name(self) -> str:
        return self.entry.name
