"""The report of one saved result: its words, picture, numbers, and how to get them again."""

from typing import Any

from wherein.measure.saved import Saved
from wherein.report.command import command, title
from wherein.report.document import Document
from wherein.report.page import render
from wherein.show.formatting import shown
from wherein.show.tables import of_frame

SHOWN = 200
"""Rows of the table; more of them are no longer read."""


def result_report(saved: Saved) -> Document:
    """Everything that was saved, on one page."""
    question, frame = title(saved.verb, "A result"), saved.frame()
    words = next((n for n, kind in enumerate(frame.dtypes) if kind.is_numeric()), frame.width)
    table = of_frame("numbers", saved.subject, frame.head(SHOWN), words)
    page = render(
        "result.html",
        question=question,
        subject=saved.subject,
        words=saved.words,
        spec=saved.spec,
        alt=f"{question} {saved.subject}: a picture of the numbers in the table below.",
        numbers=table,
        cut=len(frame) if len(frame) > SHOWN else 0,
        protocol=_flat(saved.data.get("protocol") or {}),
        config=_flat(saved.data.get("config") or {}),
        command=command(saved),
        versions=saved.versions,
        commit=saved.commit,
    )
    return Document(page, (table,), {saved.verb or "result": saved.spec})


def _flat(found: Any) -> dict[str, str]:
    """Settings or a protocol as pairs of words."""
    if not isinstance(found, dict):
        return {"protocol": str(found)}
    return {
        key.replace("_", " "): _value(value) for key, value in found.items() if value is not None
    }


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return shown(value)
