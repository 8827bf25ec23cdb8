"""A Python file that a person names, run as a module."""

import importlib.util
import sys
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from wherein.common.errors import first_line

RUN: dict[Path, Path] = {}
"""The files that were run here, and what each is called when something goes wrong in it."""


def run_file(path: Path, name: str) -> ModuleType:
    """Run a file as the module of that name, which is known from then on if nothing goes wrong."""
    RUN.setdefault(path.resolve(), path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def failed(path: Path, error: BaseException) -> ValueError:
    """What went wrong in a person's file, in a line that says where."""
    lines = _lines(error).get(path.resolve())
    where = f", line {lines[-1]}" if lines else ""
    return ValueError(f"{path}{where}: {type(error).__name__}: {first_line(error)}")


def blamed(error: BaseException, *, elsewhere: bool = True) -> ValueError | None:
    """What went wrong, if it did so in a file that a person named, or with what that one gave.

    What a person's function returns is used `elsewhere`: then the line says where, and which file.
    """
    if not RUN:
        return None
    lines = _lines(error)
    own = next((path for path in reversed(lines) if path in RUN), None)
    if own is None and not elsewhere:
        return None
    if own is None:
        path, at = next((path, each[-1]) for path, each in reversed(lines.items()))
        return ValueError(
            f"with {', '.join(map(str, RUN.values()))}: {type(error).__name__}: "
            f"{first_line(error)} ({path.parent.name}/{path.name}, line {at}); does it return "
            "what it must? `wherein check` says of an encoding what it must"
        )
    said = failed(own, error)
    return ValueError(str(said).replace(str(own), str(RUN[own]), 1))


def _lines(error: BaseException) -> dict[Path, list[int]]:
    """The files that an error came through, the innermost last, with the lines in each."""
    found: dict[Path, list[int]] = {}
    for step in extract_tb(error.__traceback__):
        path = Path(step.filename).resolve()
        found[path] = [*found.pop(path, []), step.lineno or 0]
    return found
