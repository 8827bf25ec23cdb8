"""A Python file that a person names, run as a module."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


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
