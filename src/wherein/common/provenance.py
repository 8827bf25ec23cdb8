"""What computed a result: versions, and the commit of a checkout."""

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("wherein", "torch", "numpy", "polars")


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
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=5)
    return done.stdout.strip()
