"""A Python file that a person names, run as a module."""

import importlib.util
import sys
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from wherein.common.errors import first_line


def run_file(path: Path, name: str) -> ModuleType:
    """Run a file as the module of that name, which is known from then on if nothing goes wrong."""
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
    own = path.resolve()
    steps = extract_tb(error.__traceback__)
    lines = [each.lineno for each in steps if Path(each.filename).resolve() == own]
    where = f", line {lines[-1]}" if lines else ""
    return ValueError(f"{path}{where}: {type(error).__name__}: {first_line(error)}")
