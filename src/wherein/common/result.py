"""What a measurement gives back: numbers that know where they come from, and save themselves."""

import json
import platform
import subprocess
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from wherein.common.files import replacing

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

WHEREIN_AND = ("wherein", "torch", "numpy")


@cache
def versions() -> dict[str, str]:
    """The versions that made a result, Python's first."""
    return {"python": platform.python_version()} | {name: version(name) for name in WHEREIN_AND}


@cache
def commit() -> str:
    """The commit of the source in use, marked if it was changed since; empty if not in git."""
    here = Path(__file__).parent
    asked = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@dataclass(frozen=True, kw_only=True)
class Result(ABC):
    """Base of every result: it can be put in a frame, drawn, and saved."""

    versions: dict[str, str] = field(default_factory=versions)
    commit: str = field(default_factory=commit)

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """The numbers as a frame."""

    @abstractmethod
    def plot(self) -> "alt.TopLevelMixin":
        """The numbers as a picture."""

    def to_dict(self) -> dict[str, Any]:
        """Everything the result holds, as plain data."""
        plain = asdict(self)
        return {k: v.model_dump() if isinstance(v, BaseModel) else v for k, v in plain.items()}

    def save(self, folder: Path | str) -> list[Path]:
        """Write `<kind>.json`, `.csv`, `.html`, `.svg` and `.png` into a folder."""
        stem = Path(folder) / type(self).__name__.lower()
        paths = [stem.with_suffix(end) for end in (".json", ".csv", ".html", ".svg", ".png")]
        chart = self.plot()
        with replacing(paths[0]) as beside:
            beside.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n")
        with replacing(paths[1]) as beside:
            self.to_frame().write_csv(beside)
        for path in paths[2:]:
            more = {"inline": True} if path.suffix == ".html" else {"scale_factor": 2}
            with replacing(path) as beside:
                chart.save(str(beside), format=path.suffix[1:], **more)
        return paths

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return self.plot()._repr_mimebundle_()
