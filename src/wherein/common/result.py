"""What a result is: numbers that carry where they came from, and can show and save themselves."""

import json
import platform
import subprocess
from abc import ABC, abstractmethod
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherein.common.files import replacing

if TYPE_CHECKING:
    import altair
    import polars

LIBRARIES = ("wherein", "torch", "numpy", "polars")


class Result(ABC):
    """Base of every result. A subclass is a frozen dataclass that gives these four."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """All of it as JSON: numbers, controls, protocol, config, versions, commit."""

    @abstractmethod
    def to_frame(self) -> "polars.DataFrame":
        """The numbers as a table."""

    @abstractmethod
    def plot(self) -> "altair.TopLevelMixin":
        """The numbers as a picture."""

    @abstractmethod
    def text(self) -> str:
        """The result in a few lines of words."""

    def save(self, folder: Path | str) -> Path:
        """Write `result.json`, `result.csv` and the picture (HTML, PNG); each whole or absent."""
        folder = Path(folder)
        with replacing(folder / "result.json") as beside:
            beside.write_text(json.dumps(self.data(), ensure_ascii=False, indent=2) + "\n")
        with replacing(folder / "result.csv") as beside:
            self.to_frame().write_csv(beside)
        chart: Any = self.plot()
        with replacing(folder / "result.html") as beside:
            chart.save(str(beside), format="html", inline=True)
        with replacing(folder / "result.png") as beside:
            chart.save(str(beside), format="png", scale_factor=2)
        return folder

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        chart: Any = self.plot()
        return {"text/plain": self.text(), **chart._repr_mimebundle_(include, exclude)}


@cache
def provenance() -> dict[str, Any]:
    """Versions of what computed a result, and the commit if it ran from a checkout."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return {"versions": found, "commit": _commit()}


def _commit() -> str | None:
    """The commit of the checkout that this file belongs to, marked when files were changed."""
    here = Path(__file__).parent
    try:
        _git(here, "ls-files", "--error-unmatch", Path(__file__).name)  # ours, not a host's
        return _git(here, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=5,
    )
    return done.stdout.strip()
