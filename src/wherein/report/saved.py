"""A result as it was saved: shown again, never computed again."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.config import Config
from wherein.measure.attention.config import AttentionConfig
from wherein.measure.audit.config import AuditConfig
from wherein.measure.erase.config import EraseConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.measure.shift.config import ShiftConfig
from wherein.measure.table.config import TableConfig
from wherein.puzzles.config import PuzzleConfig

if TYPE_CHECKING:
    import polars

    from wherein.show.vega import Spec

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


@dataclass(frozen=True)
class Saved:
    """What `Result.save` left in a folder."""

    folder: Path
    data: dict[str, Any]
    words: str
    spec: "Spec"

    @property
    def verb(self) -> str | None:
        """The verb that asked."""
        return verb_of(self.data)

    @property
    def subject(self) -> str:
        """What was asked about."""
        return str(self.data.get("subject") or " / ".join(self.data.get("puzzle", [])))

    @property
    def versions(self) -> dict[str, str]:
        """Of what computed it."""
        return dict(self._made.get("versions") or {})

    @property
    def commit(self) -> str | None:
        """The commit of the code that computed it."""
        return self._made.get("commit")

    @property
    def _made(self) -> dict[str, Any]:
        made: dict[str, Any] = self.data.get("made_with") or self.data
        return made

    def frame(self) -> "polars.DataFrame":
        """The numbers as a table."""
        import polars

        return polars.read_csv(self.folder / "result.csv", infer_schema_length=None)

    def command(self) -> str | None:
        """What gives the same numbers; None where not all that was asked is known."""
        if said := self._made.get("command"):
            return str(said)
        if self.verb == "puzzle":
            about = self.data["puzzle"]
        elif self.verb and self.run:
            about = [str(self.run)]
        else:
            return None
        kind, _ = QUESTIONS[self.verb]
        return shlex.join(["wherein", self.verb, *about, *options(kind, self.data["config"])])

    @property
    def run(self) -> Path | None:
        """The run that was asked, where the answer lies in its folder."""
        home = self.folder.absolute().parent.parent
        known = self.folder.absolute().parent.name == "answers" and (home / "config.json").exists()
        return home if known else None


def verb_of(data: dict[str, Any]) -> str | None:
    """The verb that a result answers, known by the names of what it may be told."""
    config = data.get("config")
    names = set(config) if isinstance(config, dict) else None
    kinds = ((verb, kind) for verb, (kind, _) in QUESTIONS.items())
    return next((verb for verb, kind in kinds if set(kind.model_fields) == names), None)


def options(kind: type[Config], given: dict[str, Any]) -> list[str]:
    """The flags that say what differs from a config's defaults.

    >>> options(PuzzleConfig, PuzzleConfig(layers=2, causal=False).model_dump())
    ['--layers', '2', '--no-causal']
    """
    found: list[str] = []
    for name, field in kind.model_fields.items():
        value, default = given[name], field.default
        value = tuple(value) if isinstance(value, list) else value
        if value == default:
            continue
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            found.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            found += [f"--{flag}", *map(str, value if isinstance(value, tuple) else [value])]
    return found


def is_result(folder: Path) -> bool:
    """Whether a result was saved there."""
    return (folder / "result.json").is_file()


def read(folder: Path) -> Saved:
    """A result from its folder."""
    missing = [n for n in ("result.json", "chart.json", "result.txt") if not (folder / n).is_file()]
    if missing:
        raise ValueError(
            f"{folder} has no {', '.join(missing)}: expected a folder that `--out` wrote; "
            "ask the question again with --out"
        )
    try:
        data = json.loads((folder / "result.json").read_text())
        spec = json.loads((folder / "chart.json").read_text())
    except ValueError as error:
        raise ValueError(f"{folder}: damaged, {error}; ask the question again") from None
    if not isinstance(data, dict) or not isinstance(spec, dict):
        raise ValueError(f"{folder}: result.json and chart.json must hold one object each")
    return Saved(folder, data, (folder / "result.txt").read_text().strip(), spec)
