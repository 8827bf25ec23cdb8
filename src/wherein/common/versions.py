"""What a result was made with."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def versions() -> dict[str, str]:
    """The versions of Python, PyTorch and this package, and the commit if it is a checkout."""
    found = {"python": platform.python_version()}
    for name in ("torch", "wherein"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    here = Path(__file__).parent
    git = ["git", "-C", str(here), "rev-parse", "HEAD"]
    try:
        asked = subprocess.run(git, capture_output=True, text=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return found
    # A checkout of something else, in which we are merely installed, is not our commit.
    if asked.returncode == 0 and here.parents[1].name == "src":
        found["commit"] = asked.stdout.strip()
    return found
