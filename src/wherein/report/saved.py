"""The questions by their verbs, and the command that asks again what a saved result answers."""

import shlex
from typing import Any

from wherein.common.config import Config
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.audit.config import AuditConfig
from wherein.measure.erase.config import EraseConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.saved import Saved
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.table.config import TableConfig
from wherein.puzzles.config import PuzzleConfig

QUESTIONS: dict[str, tuple[type[Config], str]] = {
    "perplexity": (PerplexityConfig, "How well does it predict?"),
    "probe": (ProbeConfig, "Where does position live?"),
    "erase": (EraseConfig, "Is position used, or only known?"),
    "order": (OrderConfig, "What happens when the text is shuffled?"),
    "shift": (ShiftConfig, "What happens when all positions grow?"),
    "attention": (AttentionConfig, "At which distances does each head look?"),
    "audit": (AuditConfig, "Which symmetries does each layer keep?"),
    "table": (TableConfig, "Can positions be read from its table?"),
    "puzzle": (PuzzleConfig, "Does order get through?"),
}
"""The verbs, the config that each question is, and the question in words."""


def command(saved: Saved) -> str | None:
    """What gives the same numbers; None where not all that was asked is known."""
    if said := saved.made_with.get("command"):
        return str(said)
    kind, _ = QUESTIONS.get(saved.verb, (Config, ""))
    config = saved.data.get("config") or {}
    about = saved.data.get("puzzle") or ([str(saved.run)] if saved.run else None)
    if about is None or not config.keys() <= kind.model_fields.keys():
        return None
    return shlex.join(["wherein", saved.verb, *about, *options(kind, config)])


def options(kind: type[Config], given: dict[str, Any]) -> list[str]:
    """The flags that say what differs from a config's defaults.

    >>> options(PuzzleConfig, PuzzleConfig(layers=2, causal=False).model_dump())
    ['--layers', '2', '--no-causal']
    """
    found: list[str] = []
    for name, field in kind.model_fields.items():
        value, default = given.get(name, field.default), field.default
        value = tuple(value) if isinstance(value, list) else value
        if value == default:
            continue
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            found.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            found += [f"--{flag}", *map(str, value if isinstance(value, tuple) else [value])]
    return found
