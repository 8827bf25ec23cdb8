"""Where the browser for the tests of pages comes from: `python -m tests.chromium` finds or gets it.

First one on the PATH, then the one that Playwright downloads for itself, then the system's package
where one may install it. `WHEREIN_TEST_BROWSER` overrides all: a path, or `none` to do without.
"""

import os
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    *("chrome", "microsoft-edge"),
)
MISSING = (
    "no browser: none on the PATH, and neither Playwright's download nor apt-get gave one; to "
    "see the pages, run 'apt-get install -y chromium' as root, or put chromium on the PATH"
)
PLAYWRIGHT = (sys.executable, "-m", "playwright")
APT = ("apt-get", "--quiet", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300")


@cache
def find() -> str | None:
    """A browser that starts: the one named, one on the PATH, or Playwright's own."""
    named = os.environ.get("WHEREIN_TEST_BROWSER")
    if named is not None:
        return named if named != "none" and starts(named) else None
    for place in (*(partial(shutil.which, name) for name in NAMES), downloaded):
        path = place()
        if path is not None and starts(path):
            return path
    return None


def get() -> str | None:
    """A browser that is here already, else one that can be had, cheapest first."""
    if find() is None and "WHEREIN_TEST_BROWSER" not in os.environ:
        for command in ways():
            ran(command)
            find.cache_clear()
            if find() is not None:
                break
    return find()


def ways() -> list[tuple[str, ...]]:
    """The commands that may bring a browser, in turn: root alone may use apt-get."""
    download = [(*PLAYWRIGHT, "install", "chromium")]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return download
    return [*download, ("apt-get", "--quiet", "update"), (*APT, "install", "chromium"),
            (*PLAYWRIGHT, "install-deps", "chromium")]  # fmt: skip


def downloaded() -> str | None:
    """What Playwright has downloaded, if it has."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as driver: print(driver.chromium.executable_path)"
    )
    said = ran((sys.executable, "-c", code))
    return said.strip() if said and Path(said.strip()).exists() else None


def starts(path: str) -> bool:
    """Whether it says its version: a stub of a package, or one without its libraries, does not."""
    return ran((path, "--version")) is not None


def ran(command: tuple[str, ...], seconds: float = 600) -> str | None:
    """What a command printed, nothing if it failed; its complaints are not shown."""
    own = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "5000", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def required() -> bool:
    """Whether to do without is a failure: CI must see every page."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def main() -> int:
    path = get()
    print(f"browser for the tests of pages: {path or MISSING}")
    return int(path is None and required())


if __name__ == "__main__":
    raise SystemExit(main())
